import assert from 'node:assert/strict';
import { type OpenedStorage, storageCases } from 'plant-store/testing';
import { changingTheId, droppingEachRow, onSqlite } from '../../storages/peers-sqlite-tables.js';

/** A case beside those of `storageCases`. */
export interface Case {
  readonly id: string;
  readonly run: () => Promise<void>;
}

/** Runs the storage cases and others, and prints the failures. Each runtime and driver runs this in its own program. */
export async function report(
  open: () => Promise<OpenedStorage<unknown>>,
  others: readonly Case[] = [],
): Promise<void> {
  const failed: string[] = [];
  const cases = storageCases(open);
  for (const { id, run } of [...cases, ...others])
    await run().catch((error) => failed.push(`${id}: ${error.message}`));
  console.log(JSON.stringify({ cases: cases.length, failed }));
  process.exit(0);
}

/**
 * What an app puts on the table of plants in SQLite, each a case: a create is told the truth, or throws.
 *
 * @param refusal the name of the error of a plant that a trigger drops or moves; absent if the storage does not see such a trigger
 */
export function peerCases(
  open: (statements: readonly string[]) => Promise<OpenedStorage<unknown> | undefined>,
  refusal?: string,
): Case[] {
  const truth = Object.entries(onSqlite).map(([id, sql]) => ({ id, sql, isStored: true }));
  const hostile = refusal === undefined ? [] : [droppingEachRow, changingTheId];
  const refusals = hostile.map((id) => ({ id, sql: [id], isStored: false }));
  return [...truth, ...refusals].map(({ id, sql, isStored }) => ({
    id,
    async run() {
      const opened = await open(sql);
      if (!opened) return;
      const { storage, peek, close } = opened;
      const told = (id: number) =>
        storage.create({ id: BigInt(id), name: 'Rosa' }, {} as never).catch((error: Error) => error.name);
      // Alone, then several at once, and one of them again, which is then alone again.
      const outcomes = [await told(1), ...(await Promise.all([2, 3, 4, 1].map(told))), await told(1)];
      const created = ['created', 'created', 'created', 'created', 'taken', 'taken'];
      assert.deepEqual(outcomes, isStored ? created : outcomes.map(() => refusal));
      for (const id of [1n, 2n, 3n, 4n]) assert.equal((await peek(id)) !== undefined, isStored);
      await close?.();
    },
  }));
}
