import type { MaybePromise } from '../../src/index.js';
import { storagePromises } from './storage-promises.js';
import { type OpenedStorage, Skipped, Trial } from './trial.js';

/** One promise of `PlantStorage`, as a check for any test runner. */
export interface StorageCase {
  /** Never changes, so that a case can be named in a list of exceptions. */
  readonly id: string;
  readonly name: string;
  /**
   * Rejects if the storage breaks the promise; the message has the expected and the received value. If `open` does not give what
   * the case needs, it calls `skip` of the runner's context, as those of `node:test` and Vitest have it.
   */
  readonly run: (context?: RunnerContext) => Promise<void>;
}

/** What a test runner passes to a test. */
export interface RunnerContext {
  skip?(reason: string): unknown;
}

/** @throws {TypeError} if `open` of the app returned something else */
function checkOpened(opened: unknown): void {
  const { storage, peek } = Object(opened) as { storage?: unknown; peek?: unknown };
  const wrong = typeof Object(storage).create !== 'function' ? 'storage' : 'peek';
  if (wrong === 'peek' && typeof peek === 'function') return;
  throw new TypeError(
    `open must return { storage, caller, peek }: a PlantStorage, the caller of its creates, and a function that reads a stored plant without it; ${wrong} is missing`,
  );
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
    // Without a parameter, which some runners would take for a callback.
    async run(...[context]: [RunnerContext?]) {
      const opened = await open();
      checkOpened(opened);
      try {
        await check(new Trial(opened as OpenedStorage<unknown>));
      } catch (error) {
        if (!(error instanceof Skipped)) throw error;
        context?.skip?.(error.message);
      } finally {
        await opened.close?.();
      }
    },
  }));
}
