import { type By, type Figure, figure, type Sample } from './figures.js';
import { type Contestant, Side } from './side.js';

/** How long a comparison takes. */
export interface Effort {
  /** How many fresh processes each side gets: the code that V8 makes of a program differs by some percent between them. */
  readonly processes: number;
  /** Samples of each side in one process. */
  readonly samples: number;
  readonly sampleMs: number;
  readonly warmUpMs: number;
}

export interface Comparison {
  /** The medians of each side. */
  readonly baseline: Sample;
  readonly ours: Sample;
  /**
   * How many times as good our side is, sample by sample: 2 is half the CPU time, twice the rate, half the latency. But
   * `added` is in microseconds.
   */
  readonly times: Readonly<Record<By, Figure>>;
}

/**
 * Lets two contenders take turns in short samples, in fresh processes: on a machine that others use as well, only samples
 * of the same moment can be compared.
 */
export async function compare(baseline: Contestant, ours: Contestant, effort: Effort): Promise<Comparison> {
  const samples: readonly [baseline: Sample[], ours: Sample[]] = [[], []];
  for (let i = 0; i < effort.processes; i++) {
    const sides: Side[] = [];
    try {
      for (const contestant of [baseline, ours]) sides.push(await Side.open(contestant));
      for (const side of sides) await side.sample(effort.warmUpMs);
      for (let turn = 0; turn < effort.samples; turn++) {
        // The order alternates, because something may favour the first.
        for (const which of turn % 2 ? ([1, 0] as const) : ([0, 1] as const)) {
          samples[which].push(await sides[which]!.sample(effort.sampleMs));
        }
      }
    } finally {
      for (const side of sides) await side.stop();
    }
  }
  const times = (of: (baseline: Sample, ours: Sample) => number) =>
    figure(samples[0].map((sample, i) => of(sample, samples[1][i]!)));
  return {
    baseline: medians(samples[0]),
    ours: medians(samples[1]),
    times: {
      cost: times((theirs, our) => theirs.cost / our.cost),
      rate: times((theirs, our) => our.rate / theirs.rate),
      p50: times((theirs, our) => theirs.p50 / our.p50),
      added: times((theirs, our) => our.p50 - theirs.p50),
    },
  };
}

function medians(samples: readonly Sample[]): Sample {
  const of = (key: keyof Sample) => figure(samples.map((sample) => sample[key])).median;
  return { cost: of('cost'), rate: of('rate'), p50: of('p50') };
}
