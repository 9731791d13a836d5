import type { MaybePromise, PlantRequest } from '../http.js';
import type { Complete, PlantStoreOptions } from '../options.js';
import { isNamed, propertyOf } from '../problems.js';
import { isDisconnected, WithSignal } from './context.js';

type OnError = Complete<PlantStoreOptions>['onError'];

/** Reports an error to `onError`, unless it only says that the client disconnected. */
export function report(onError: OnError, ...[error, request, code]: Parameters<OnError>): Promise<void> {
  return ignoringErrors(() => {
    if (isOfClient(error, request)) return;
    if (request instanceof WithSignal) conceal(request);
    return onError(error, request, code);
  });
}

/** Calls a function of the app, and ignores what it throws or rejects with. */
export async function ignoringErrors(call: () => MaybePromise<void>): Promise<void> {
  try {
    await call();
  } catch {}
}

/** Hides credentials and the host's own request from a log of the whole request. By their names they can still be read. */
function conceal(request: PlantRequest): void {
  for (const name of ['headers', 'raw', 'body', 'signal']) {
    if (Object.hasOwn(request, name)) Object.defineProperty(request, name, { enumerable: false });
  }
  // `%o` of Node, and of winston, shows hidden members, too.
  Object.defineProperty(request, Symbol.for('nodejs.util.inspect.custom'), { value: enumerableMembers });
}

/** One function for all requests: a second error of a request may define it again. */
function enumerableMembers(this: PlantRequest): object {
  return { ...this };
}

/** Whether an error only says that the client disconnected, which is expected, and not a fault. */
function isOfClient(error: unknown, request: PlantRequest): boolean {
  try {
    if (!isDisconnected(request)) return false;
    if (isNamed(error, 'AbortError')) return true;
    // The reason may be any value. A signal of a host's own may have none.
    const reason = request.signal?.reason;
    return reason !== undefined && (error === reason || propertyOf(error, 'cause') === reason);
  } catch {
    return false; // A getter of the request threw.
  }
}
