import { inspect, kindOf } from '../errors/inspect.js';
import { propertyOf } from '../errors/property-of.js';

/** @throws {TypeError} if it is no storage, or lacks `find` and needs it; the message says what came, and what to pass */
export function checkStorage(storage: unknown, needsFind: boolean): void {
  const { create, then, query } = Object(storage);
  if (typeof create === 'function') {
    if (needsFind && !propertyOf(storage, 'find')) throw new TypeError('acceptReplays requires storage.find');
    return;
  }
  let remedy = 'pass a storage, such as memoryStorage()';
  if (typeof then === 'function') remedy = 'await it first';
  else if (typeof query === 'function') remedy = 'pass postgresStorage(pool) or mysqlStorage(pool)';
  else if (typeof storage === 'function')
    remedy = 'pass the storage first, such as memoryStorage(), and then verifyToken';
  throw new TypeError(`storage.create must be a function, got ${kindOf(storage)} as the storage; ${remedy}`);
}

/** @throws {TypeError} if it is no function; the message shows no text, which could be a token */
export function checkVerifyToken(verifyToken: unknown): void {
  if (typeof verifyToken === 'function') return;
  const given =
    typeof verifyToken === 'string'
      ? 'a string; pass acceptTokens(token)'
      : `${inspect(verifyToken)}; pass a function that returns the caller of a token, or acceptTokens(token)`;
  throw new TypeError(`verifyToken must be a function, got ${given}`);
}
