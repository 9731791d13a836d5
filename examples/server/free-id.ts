import { randomInt } from 'node:crypto';
import type { PlantStorage } from 'plant-store';

/** Looks a plant up, as a storage's `find` does. */
export type FindPlant = (id: bigint) => Promise<unknown>;

/** Returns a storage's `find` for use outside a request. */
export function finder(storage: PlantStorage): FindPlant {
  const { find } = storage;
  if (!find) return async () => undefined;
  const context = { caller: undefined, request: { method: 'GET', url: '/', headers: {} } };
  return (id) => find(id, { ...context, signal: new AbortController().signal });
}

const max = 2n ** 63n - 1n;
const min = -(2n ** 63n);

/**
 * Returns an int64 that no plant has at this moment: the first from `from` on if ids are given in order. Needs at most
 * 256 lookups, however many plants there are. If all that it looks up are taken, returns `undefined`.
 */
export async function freeId(find: FindPlant, from = 1n): Promise<bigint | undefined> {
  return (await gallop(find, from, max)) ?? (await gallop(find, from - 1n, min));
}

/** Doubles its step from `from` towards `end` until an id is free, then bisects the gap to the last one taken. */
async function gallop(find: FindPlant, from: bigint, end: bigint): Promise<bigint | undefined> {
  const sign = end < 0n ? -1n : 1n;
  const last = sign * (end - from);
  // Both count from `from`.
  let taken = -1n;
  let free = 0n;
  while (free <= last && (await find(from + sign * free))) {
    taken = free;
    // The last id is looked up even if the step passes over it.
    free = free < last && 2n * free + 2n > last ? last : 2n * free + 2n;
  }
  if (free > last) return undefined;
  while (free - taken > 1n) {
    const middle = (taken + free) / 2n;
    if (await find(from + sign * middle)) taken = middle;
    else free = middle;
  }
  return from + sign * free;
}

/**
 * Returns a function that finds free ids, one search at a time, which starts at the id that was found last: however many
 * open the page, and however many plants there are, the database gets one lookup at a time, mostly one in all.
 */
export function freeIds(find: FindPlant, from: bigint): () => Promise<bigint | undefined> {
  let last = from;
  let search: Promise<bigint | undefined> | undefined;
  return () => {
    search ??= freeId(find, last)
      .then((id) => {
        last = id ?? last;
        return id;
      })
      .finally(() => {
        search = undefined;
      });
    return search;
  };
}

/** Returns an id that is almost certainly free, for when none is found. */
export function randomId(): bigint {
  return BigInt(randomInt(2 ** 47));
}
