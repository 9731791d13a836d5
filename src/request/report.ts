import type { ErrorNumber } from '../error-numbers.js';
import { ignoringErrors, type PlantRequest } from '../http.js';
import type { PlantStoreOptions } from '../options.js';
import { isNamed } from '../problems.js';
import { propertyOf } from '../property-of.js';
import type { Complete } from '../rules.js';

/** Reports an error to `onError`, unless it only says that the client disconnected. Never rejects. */
export async function report(
  onError: Complete<PlantStoreOptions>['onError'],
  error: unknown,
  request: PlantRequest,
  code: ErrorNumber,
): Promise<void> {
  if (isOfClient(error, request)) return;
  await ignoringErrors(() => onError(error, request, code));
}

/** Whether an error only says that the client disconnected, which is expected, and not a fault. */
function isOfClient(error: unknown, request: PlantRequest): boolean {
  // A getter of the request may throw.
  const signal = propertyOf(request, 'signal');
  if (!propertyOf(signal, 'aborted')) return false;
  if (isNamed(error, 'AbortError')) return true;
  // The reason may be any value. A signal of a host's own may have none.
  const reason = propertyOf(signal, 'reason');
  return reason !== undefined && (error === reason || propertyOf(error, 'cause') === reason);
}
