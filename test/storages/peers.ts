// What creates are told of a table that the app uses, too: by triggers, rules, partitions and views.
import { expect } from 'vitest';
import { context } from './context.js';
import { createTruly, type FaultyTable, outcomeOf } from './faults.js';

/** A table, and all that is stored in it and beside it. */
export interface PeersTable extends FaultyTable {
  readonly storage: FaultyTable['storage'] & { check(): Promise<void> };
  content(): Promise<unknown>;
}

/** `check` passes if creates work, and leaves nothing of those that it tries: no row, no row of an audit. */
export async function expectCheck({ storage, content }: PeersTable, isUsable: boolean): Promise<void> {
  const before = await content();
  const said = await storage.check().then(String, ({ message }: Error) => message);
  expect(await content()).toEqual(before);
  if (isUsable) return expect(said).toBe('undefined');
  // Otherwise it says what is wrong.
  expect(said).toMatch(/^plant-store cannot use the table .*: (?!undefined).{20}/);
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

/** Creates plants of which a trigger rejects each tenth, by its tag, and expects that none of them costs a login. */
export async function expectNoLogin(
  { storage }: FaultyTable,
  logins: () => Promise<number> | number,
): Promise<void> {
  expect(await storage.create(rosa(0), context)).toBe('created');
  const before = await logins();
  for (let first = 1; first < 100; first += 20) {
    const plants = Array.from({ length: 20 }, (_, i) => ({
      ...rosa(first + i),
      tag: i % 10 ? 'fern' : 'fault',
    }));
    const creating = plants.map((plant) => storage.create(plant, context));
    const outcomes = (await Promise.allSettled(creating)).map(({ status }) => status);
    expect(outcomes).toEqual(plants.map(({ tag }) => (tag === 'fault' ? 'rejected' : 'fulfilled')));
  }
  expect(await logins()).toBe(before);
}
