import type { Complete } from '../checks/rules.js';
import { logError } from '../errors/log.js';
import type { ErrorNumber } from '../errors/numbers.js';
import { isNamed } from '../errors/problems.js';
import { propertyOf } from '../errors/property-of.js';
import { ignoringErrors, type PlantRequest } from '../http.js';
import type { PlantStoreOptions } from '../options.js';

/** Reports an error to `onError`, unless it only says that the client disconnected. If `onError` fails, the default line is written. Never rejects. */
export async function report(
  onError: Complete<PlantStoreOptions>['onError'],
  error: unknown,
  request: PlantRequest,
  code: ErrorNumber,
): Promise<void> {
  if (isOfClient(error, request)) return;
  try {
    await onError(error, request, code);
  } catch {
    ignoringErrors(() => logError(error, request, code));
  }
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
