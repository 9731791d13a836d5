/** The seed of this run. `SEED=…` before a command repeats one. */
export const seed = Number(process.env.SEED ?? (Date.now() % 2 ** 31) + 1);

/** Random numbers from 0 to 1 that a seed other than 0 repeats: Marsaglia's xorshift of 32 bits. */
export function randomOf(from: number): () => number {
  let state = from;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
