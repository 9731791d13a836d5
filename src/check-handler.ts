import { guard } from './guard.js';
import { inspect } from './inspect.js';
import { createPlantStore } from './plant-store.js';
import { respondToMistake, whatToWrite } from './request/mount-mistakes.js';

/** What makes a handler, and is none. */
const makers: readonly unknown[] = [createPlantStore, guard];

/**
 * Checks what an adapter was given. `app.use(toExpress)` calls it with a request; `toKoa(createPlantStore)` and
 * `toExpress(guard)` give it what makes the handler.
 *
 * @param rest the adapter's further arguments: there are some only if a host calls it
 * @returns whether it is a handler; if not, the host got a response
 * @throws {TypeError} if it is none, and no host waits for a response
 */
export function checkHandler(handle: unknown, rest: readonly unknown[]): boolean {
  const isHandler = typeof handle === 'function' && !makers.includes(handle);
  if (isHandler) return true;
  // Nothing but the handler: the app calls it, and learns what it passed.
  if (rest.every((one) => one === undefined))
    throw new TypeError(`${whatToWrite} The adapter got ${inspect(handle)}.`);
  respondToMistake(handle, ...rest);
  return false;
}
