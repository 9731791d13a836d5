import type { PlantStorage } from 'plant-store';

/** Looks a plant up, as a storage's `find` does. */
export type FindPlant = (id: bigint) => Promise<unknown>;

/** A storage's `find`, to be asked outside a request. */
export function finder(storage: PlantStorage): FindPlant {
  const { find } = storage;
  if (!find) return async () => undefined;
  const context = { caller: undefined, request: { method: 'GET', url: '/', headers: {} } };
  return (id) => find(id, { ...context, signal: new AbortController().signal });
}

/**
 * An id from `from` on that no plant has at this moment: the one after the last, if ids were given in order. It asks
 * for few ids even if there are millions of plants: it doubles its step until an id is free, then halves the gap.
 */
export async function freeId(find: FindPlant, from = 1n): Promise<bigint> {
  let taken = from - 1n;
  let free = from;
  while (await find(free)) [taken, free] = [free, free + 2n * (free - taken)];
  while (free - taken > 1n) {
    const middle = (taken + free) / 2n;
    if (await find(middle)) taken = middle;
    else free = middle;
  }
  return free;
}
