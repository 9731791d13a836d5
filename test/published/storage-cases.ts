import type { MaybePromise } from '../../src/index.js';
import { storagePromises } from './storage-promises.js';
import { type OpenedStorage, Trial } from './trial.js';

/** One promise of `PlantStorage`, as a check for any test runner. */
export interface StorageCase {
  /** Never changes, so that a case can be named in a list of exceptions. */
  readonly id: string;
  readonly name: string;
  /** Rejects if the storage breaks the promise; the message has the expected and the received value. */
  readonly run: () => Promise<void>;
}

/**
 * Checks of everything that `PlantStorage` promises, for any test runner.
 *
 * @param open makes a storage without plants; called once for each case
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 *
 * const open = () => {
 *   const plants = new Map<bigint, NewPlant>();
 *   return { storage: memoryStorage(plants), caller: undefined, peek: (id: bigint) => plants.get(id) };
 * };
 * for (const { id, name, run } of storageCases(open)) test(`${id}: ${name}`, run);
 * ```
 */
export function storageCases<Caller>(open: () => MaybePromise<OpenedStorage<Caller>>): StorageCase[] {
  return storagePromises.map(({ id, name, check }) => ({
    id,
    name,
    async run() {
      const opened = await open();
      try {
        await check(new Trial(opened as OpenedStorage<unknown>));
      } finally {
        await opened.close?.();
      }
    },
  }));
}
