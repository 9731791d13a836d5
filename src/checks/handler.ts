import { kindOf } from '../errors/inspect.js';
import { guard } from '../guard.js';
import { createPlantStore } from '../plant-store.js';
import { whatToWrite } from '../request/mount-mistakes.js';

/** What makes a handler, and is none: TypeScript lets `toKoa(guard)` pass where the app has switched its checks off. */
const makers: readonly unknown[] = [createPlantStore, guard];

/**
 * Checks what an adapter was given, which is a host's request if the app has written `app.use(toExpress)`.
 *
 * The adapters' parameter `..._none` is for TypeScript, which then refuses that line on every host.
 *
 * @throws {TypeError} if it is no handler. Every host hears of it: without it the request would hang.
 */
export function checkHandler(handle: unknown): void {
  if (typeof handle === 'function' && !makers.includes(handle)) return;
  throw new TypeError(`${whatToWrite} The adapter got ${kindOf(handle)}.`);
}
