import { randomInt } from 'node:crypto';

/** The seed that a text names: an integer from 1, or `random` for another one each time. */
export function seedOf(text: string): number {
  if (text === 'random') return randomInt(1, 2 ** 31);
  const named = Number(text);
  if (Number.isInteger(named) && named > 0 && named < 2 ** 32) return named;
  throw new RangeError(`SEED must be "random" or an integer from 1 to 4294967295, got "${text}"`);
}

/**
 * The seed of every random input of this run: 1 for `npm test`, another one each time for the heavy suite, the clusters
 * and `SEED=random`. `SEED=…` before a command repeats a run. Vitest's configuration sets it for all files of a run.
 */
export const seed = seedOf(process.env.SEED ?? '1');

/** Random numbers from 0 to 1 that the seed repeats: Marsaglia's xorshift of 32 bits. */
export function randomOf(from: number): () => number {
  let state = from;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
