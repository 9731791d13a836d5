import type { Load } from './load.js';
import { type Contestant, type Sample, Side } from './side.js';

/** How long a comparison takes. */
export interface Effort {
  /** How many fresh processes each side gets: the code that V8 makes of a program differs by some percent between them. */
  readonly processes: number;
  /** Samples of each side in one process. */
  readonly samples: number;
  readonly sampleMs: number;
  readonly warmUpMs: number;
}

/** A median, with the least and the most. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Requests a second; microseconds of CPU time of the server's process, and bytes of its heap, for a request. */
export type Comparison = { readonly [Measure in keyof Sample]: Compared };

export interface Compared {
  /** The median of each side. */
  readonly baseline: number;
  readonly ours: number;
  /** How many times as good ours is, pair by pair: 2 is twice the rate, half the CPU time or half the bytes. */
  readonly ratio: Figure;
}

/**
 * Lets two contenders take turns in short samples, in fresh processes: on a machine that others use as well, only samples
 * of the same moment can be compared.
 */
export async function compare(
  baseline: Contestant,
  ours: Contestant,
  load: Load,
  effort: Effort,
): Promise<Comparison> {
  const samples: readonly [baseline: Sample[], ours: Sample[]] = [[], []];
  for (let i = 0; i < effort.processes; i++) {
    const sides: Side[] = [];
    try {
      for (const contestant of [baseline, ours]) sides.push(await Side.open(contestant, load));
      for (const side of sides) await side.sample(effort.warmUpMs);
      for (let turn = 0; turn < effort.samples; turn++) {
        // The order alternates, because something may favour the first.
        for (const which of turn % 2 ? ([1, 0] as const) : ([0, 1] as const))
          samples[which].push(await sides[which]!.sample(effort.sampleMs));
      }
    } finally {
      for (const side of sides) await side.stop();
    }
  }
  const compared = (of: keyof Sample, goodness: 1 | -1): Compared => {
    const [theirs, own] = samples.map((side) => side.map((sample) => sample[of])) as [number[], number[]];
    const ratios = theirs.map((value, i) => (own[i]! / value) ** goodness);
    return { baseline: figure(theirs).median, ours: figure(own).median, ratio: figure(ratios) };
  };
  return { rate: compared('rate', 1), cost: compared('cost', -1), bytes: compared('bytes', -1) };
}

export function figure(values: readonly number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}
