import { kindOf, ownWords } from '../../../src/for-storages.js';

/** What a storage needs, and what to pass. */
export interface Needed {
  readonly storage: 'postgresStorage' | 'mysqlStorage' | 'sqliteStorage';
  readonly what: string;
  readonly remedy: string;
}

/**
 * Throws if a storage was given what it cannot use, as far as the object shows it. Other wrong handles are detected at their
 * first result.
 *
 * @param isUsable whether it has the methods that the storage calls
 * @throws {TypeError} that names what came and what to pass
 */
export function checkHandle(handle: unknown, isUsable: boolean, { storage, what, remedy }: Needed): void {
  const isPending = isPromise(handle);
  if (isUsable && !isPending) return;
  throw new TypeError(
    `${storage} needs ${what}, got ${kindOf(handle)}: ${isPending ? 'await it first' : remedy}. ${page}`,
  );
}

const page = 'For libraries, see examples/README.md#databases';

/** Returns why a handle cannot be used that only its first error, or its first result, has shown to be another one. */
export function failedHandle(handle: unknown, error: unknown, { storage, what }: Needed): string {
  const how = error instanceof WrongResult ? `: ${error.message}` : '';
  return `${storage} needs ${what}, got ${kindOf(handle)}, which failed${how}. ${page}`;
}

/** A handle gave another result than its documentation says: it is another one. */
export class WrongResult extends TypeError {
  constructor(method: string, expected: string, got: unknown) {
    super(`${method} must return ${expected}, got ${kindOf(got)}`);
    ownWords(this);
    // It may be a promise that rejects, which would end the process.
    if (isPromise(got)) got.then(undefined, () => {});
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (Object(value) as { then?: unknown }).then === 'function';
}
