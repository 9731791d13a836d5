// What creates are told of a table that the app uses, too: by triggers, rules, partitions and views.
import { expect } from 'vitest';
import { createTruly, type FaultyTable, outcomeOf } from './faults.js';

/** A table, and all that is stored in it and beside it. */
export interface PeersTable extends FaultyTable {
  readonly storage: FaultyTable['storage'] & { check(): Promise<{ readonly notAsked: readonly string[] }> };
  content(): Promise<unknown>;
}

/** `check` passes if creates work, and leaves nothing of those that it tries: no row, no row of an audit. */
export async function expectCheck({ storage, content }: PeersTable, isUsable: boolean): Promise<void> {
  const before = await content();
  const found = await storage.check().catch((error: Error) => error);
  expect(await content()).toEqual(before);
  if (isUsable) return expect(found).toEqual({ notAsked: [] });
  // Otherwise it says what is wrong, or that the database rejects the plants that it tries.
  if (found instanceof Error) expect(found.message.length).toBeGreaterThan(20);
  else
    expect(found.notAsked).toEqual([
      expect.stringMatching(/^the database rejects the plants .*: (?!undefined)./),
    ]);
}

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
