import { ownWords } from '../../../src/for-storages.js';

/** What a storage needs, and what to pass. */
export interface Needed {
  readonly storage: 'postgresStorage' | 'mysqlStorage' | 'sqliteStorage';
  readonly what: string;
  readonly remedy: string;
}

/**
 * Throws if a storage was given what it cannot use, as far as the object shows it. What else it cannot use shows by its first result.
 *
 * @param isUsable whether it has the methods that the storage calls
 * @throws {TypeError} that names what came and what to pass
 */
export function checkHandle(handle: unknown, isUsable: boolean, { storage, what, remedy }: Needed): void {
  const came = kindOf(handle);
  if (isUsable && came !== promise) return;
  const instead = came === promise ? 'await it first' : remedy;
  throw new TypeError(`${storage} needs ${what}, got ${came}: ${instead}. ${page}`);
}

const promise = 'a promise';
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
    if (isMethod(got, 'then')) (got as PromiseLike<unknown>).then(undefined, () => {});
  }
}

function isMethod(handle: unknown, method: string): boolean {
  return typeof (Object(handle) as Record<string, unknown>)[method] === 'function';
}

/** Says what a value is: by its class, if it has one. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Array.isArray(value)) return 'an array';
  if (isMethod(value, 'then')) return promise;
  if (value instanceof URL) return 'a URL';
  const { name } = Object(value).constructor ?? {};
  return !name || name === 'Object' ? 'an object' : `an object of the class ${name}`;
}
