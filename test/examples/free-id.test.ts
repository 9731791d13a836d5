import { describe, expect, it } from 'vitest';
import { freeId } from '../../examples/server/free-id.js';

describe('a free id', () => {
  it.each<[string, bigint[], bigint, bigint]>([
    ['the first if there are no plants', [], 1n, 1n],
    ['the first from which it may start', [], 2n, 2n],
    ['the one after the last', Array.from({ length: 1_000 }, (_, i) => BigInt(i + 1)), 1n, 1_001n],
    ['a free one if there are gaps', [1n, 2n, 3n, 5n, 8n, 13n, 21n], 1n, 6n],
    ['none of those that were given at random', [2n, 9_007_199_254_740_993n], 2n, 3n],
  ])('is %s', async (_, ids, from, expected) => {
    const taken = new Set(ids);
    expect(await freeId(async (id) => taken.has(id), from)).toBe(expected);
  });

  it('is found with few questions among a million plants', async () => {
    let questions = 0;
    const find = async (id: bigint) => {
      questions++;
      return id <= 1_000_000n;
    };
    expect(await freeId(find)).toBe(1_000_001n);
    expect(questions).toBeLessThanOrEqual(42);
  });
});
