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
  return comparisonOf(...samples);
}

/**
 * Lets two contenders take turns in one process, in windows of 60 ms, and compares what each does undisturbed: the cost of
 * its quietest tenth, and the median time of an operation. Such figures repeat within 3 %.
 */
export async function compareInTurns(
  baseline: Contestant,
  ours: Contestant,
  { processes, samples, sampleMs, warmUpMs }: Effort,
): Promise<Comparison> {
  const found: readonly [baseline: Sample[], ours: Sample[]] = [[], []];
  for (let i = 0; i < processes; i++) {
    const sides = await Side.openBoth(baseline, ours);
    try {
      for (const side of sides) await side.sample(warmUpMs);
      const windows: Awaited<ReturnType<Side['sample']>>[][] = [[], []];
      for (let turn = 0; turn < Math.ceil((samples * sampleMs) / windowMs); turn++) {
        for (const which of turn % 2 ? [1, 0] : [0, 1])
          windows[which]!.push(await sides[which]!.sample(windowMs));
      }
      windows.forEach((own, which) => {
        found[which]!.push({
          cost: lowestDecile(own.map(({ cost }) => cost)),
          rate: 1 / lowestDecile(own.map(({ rate }) => 1 / rate)),
          p50: figure(own.flatMap(({ latencies }) => latencies)).median,
        });
      });
    } finally {
      for (const side of sides) await side.stop();
    }
  }
  return comparisonOf(...found);
}

const windowMs = 60;

function lowestDecile(values: readonly number[]): number {
  return values.slice().sort((a, b) => a - b)[Math.floor(values.length / 10)]!;
}

/** Sample by sample. */
function comparisonOf(baseline: readonly Sample[], ours: readonly Sample[]): Comparison {
  const times = (of: (baseline: Sample, ours: Sample) => number) =>
    figure(baseline.map((sample, i) => of(sample, ours[i]!)));
  return {
    baseline: medians(baseline),
    ours: medians(ours),
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
