import { type By, type Figure, figure, type Sample } from './figures.js';
import { type Contestant, Side } from './side.js';

/** How long a duel is. */
export interface Effort {
  /** How many fresh processes each side gets: what V8 makes of a program differs from one to the next by some percent. */
  readonly bouts: number;
  /** Samples of each side in a bout. */
  readonly pairs: number;
  readonly sampleMs: number;
  readonly warmUpMs: number;
}

export interface Duel {
  /** The medians of each side. */
  readonly floor: Sample;
  readonly target: Sample;
  /**
   * How much better the target is, pair by pair: 2 is half the CPU time, twice the rate, half the latency. But `added`
   * is in microseconds.
   */
  readonly times: Readonly<Record<By, Figure>>;
}

/**
 * Lets two contenders take turns in short samples, in fresh processes: on a machine that others use as well, only what
 * is measured side by side can be compared.
 */
export async function duel(floor: Contestant, target: Contestant, effort: Effort): Promise<Duel> {
  const floors: Sample[] = [];
  const targets: Sample[] = [];
  for (let i = 0; i < effort.bouts; i++) {
    const sides: Side[] = [];
    try {
      for (const contestant of [floor, target]) sides.push(await Side.open(contestant));
      for (const side of sides) await side.sample(effort.warmUpMs);
      for (let pair = 0; pair < effort.pairs; pair++) {
        // Who goes first changes, because something may favour the first.
        for (const which of pair % 2 ? [1, 0] : [0, 1]) {
          (which ? targets : floors).push(await sides[which]!.sample(effort.sampleMs));
        }
      }
    } finally {
      for (const side of sides) await side.stop();
    }
  }
  const times = (compare: (floor: Sample, target: Sample) => number) =>
    figure(floors.map((floor, i) => compare(floor, targets[i]!)));
  return {
    floor: medians(floors),
    target: medians(targets),
    times: {
      cost: times((floor, target) => floor.cost / target.cost),
      rate: times((floor, target) => target.rate / floor.rate),
      p50: times((floor, target) => floor.p50 / target.p50),
      added: times((floor, target) => target.p50 - floor.p50),
    },
  };
}

function medians(samples: readonly Sample[]): Sample {
  const of = (key: keyof Sample) => figure(samples.map((sample) => sample[key])).median;
  return { cost: of('cost'), rate: of('rate'), p50: of('p50') };
}
