import { isDisconnected } from './context.js';
import type { PlantRequest } from './http.js';
import type { Complete, PlantStoreOptions } from './options.js';
import { isNamed, propertyOf } from './problems.js';

/** Calls `onError` and ignores what it throws or rejects with. */
export async function report(
  error: unknown,
  request: PlantRequest,
  onError: Complete<PlantStoreOptions>['onError'],
): Promise<void> {
  try {
    if (!isOfClient(error, request)) await onError(error, request);
  } catch {}
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
