// What creates are told of a table that the app uses, too: by triggers, rules, partitions and views.
import { expect } from 'vitest';
import { createTruly, type FaultyTable, outcomeOf } from './faults.js';

/** A plant of this id; all have one name. */
export const rosa = (id: number) => ({ id: BigInt(id), name: 'Rosa' });

const plant = (id: number) => ({ id: BigInt(id), name: `Rosa ${id}` });

/** Creates plants alone and in batches, and each of them again. */
export async function expectTruth(table: FaultyTable): Promise<void> {
  expect(await createTruly(table, [plant(1)])).toEqual(['created']);
  expect(await outcomeOf(table, plant(1))).toBe('taken');
  const others = [2, 3, 4, 5].map(plant);
  expect(await createTruly(table, others)).toEqual(others.map(() => 'created'));
  const again = await Promise.all([1, 2, 3, 4, 5].map((id) => outcomeOf(table, plant(id))));
  expect(again).toEqual(again.map(() => 'taken'));
}

/** Creates plants at once that are not stored under their ids: none is `created` or `taken`. */
export async function expectNoPlant(table: FaultyTable, ids: readonly number[]): Promise<void> {
  for (const outcome of await createTruly(table, ids.map(plant)))
    expect(['refused', 'unknown']).toContain(outcome);
}
