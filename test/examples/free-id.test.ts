import { describe, expect, it } from 'vitest';
import { freeId, freeIds } from '../../examples/server/free-id.js';

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

  it('is found with few lookups among a million plants', async () => {
    let lookups = 0;
    const find = async (id: bigint) => {
      lookups++;
      return id <= 1_000_000n;
    };
    expect(await freeId(find)).toBe(1_000_001n);
    expect(lookups).toBeLessThanOrEqual(42);
  });
});

it('a page that a thousand open at once, again and again, costs one lookup each time', async () => {
  let lookups = 0;
  const next = freeIds(async (id) => {
    lookups++;
    return id <= 1_000_000n;
  }, 1n);
  const opened = () => Promise.all(Array.from({ length: 1_000 }, next));
  expect(new Set(await opened())).toEqual(new Set([1_000_001n]));
  expect(lookups).toBeLessThanOrEqual(42);
  lookups = 0;
  for (let i = 0; i < 10; i++) await opened();
  expect(lookups).toBe(10);
});

describe('a search for a free id stays in int64', () => {
  const max = 2n ** 63n - 1n;
  const powers = Array.from({ length: 63 }, (_, k) => 2n ** BigInt(k));

  it.each<[string, (id: bigint) => boolean, bigint]>([
    ['63 plants have the powers of two', (id) => powers.includes(id), 2n],
    ['63 plants have the ids before the powers of two', (id) => powers.includes(id + 1n), 1n],
    ['63 plants have the ids after the powers of two', (id) => powers.includes(id - 1n), 3n],
    ['the last thousand ids are taken', (id) => id > max - 1_000n, max - 500n],
    ['the last id alone is taken', (id) => id === max, max],
    ['it starts after the last id', () => false, max + 1n],
    ['every positive id is taken', (id) => id > 0n, 1n],
    ['one id is free, the last', (id) => id !== max, 1n],
    ['one id is free, the first', (id) => id !== -(2n ** 63n), 1n],
  ])('and finds one if %s', async (_, isTaken, from) => {
    const found = await freeId(async (id) => isTaken(id), from);
    expect(found).toBe(BigInt.asIntN(64, found!));
    expect(isTaken(found!)).toBe(false);
  });

  it.each([1n, -5n, max, max + 1n, -(2n ** 63n)])(
    'and ends without one if all are taken, from %s',
    async (from) => {
      const lookups: bigint[] = [];
      const find = async (id: bigint) => lookups.push(id);
      expect(await freeId(find, from)).toBeUndefined();
      expect(lookups.length).toBeLessThanOrEqual(256);
      for (const id of lookups) expect(id).toBe(BigInt.asIntN(64, id));
    },
  );
});
