import { type InsufficientScope, isScope, scopeInsufficient } from './bearer.js';
import { tooLarge } from './body.js';
import type { Deadline } from './deadline.js';
import type { Complete, PlantStoreOptions } from './options.js';
import { isNamed, Refusal } from './problems.js';
import type { BodyError } from './upload.js';

/**
 * Turns an unexpected throw into a refusal. There is one for each party, because the same throw means something else
 * from each.
 */
export type Fault = (error: unknown, deadline: Deadline, settings: Complete<PlantStoreOptions>) => Refusal;

export const internalFault: Fault = (cause) => new Refusal('internal_error', { cause });

/** An outage of the verifier is never a 401. */
export const verifierFault: Fault = (cause) => {
  const scope = isNamed<InsufficientScope>(cause, 'InsufficientScope') && read(cause, 'scope');
  return isScope(scope) ? scopeInsufficient(scope) : new Refusal('verification_failed', { cause });
};

/** What the host or the connection did to the body. */
export const bodyFault: Fault = (cause, { expired }, { bodyLimit }) => {
  const problem = isNamed<BodyError>(cause, 'BodyError') && read(cause, 'problem');
  if (problem === 'body_too_large') return tooLarge(bodyLimit);
  if (problem === 'body_incomplete' || (expired && cause === expired)) return new Refusal('body_incomplete');
  return new Refusal('body_unreadable', { cause });
};

export const storageFault: Fault = (cause, { expired }, { acceptReplays }) => {
  const retryAfter = { 'retry-after': '1' };
  if (expired && cause === expired) {
    // Retrying an unknown outcome is safe only if an equal plant counts as success.
    return new Refusal('timed_out', { cause, headers: acceptReplays ? retryAfter : {} });
  }
  if (isNamed(cause, 'PlantRefused')) {
    const message = read(cause, 'message');
    const isText = typeof message === 'string' && message !== '';
    return new Refusal('plant_refused', { message: isText ? message : undefined });
  }
  if (isNamed(cause, 'StorageBusy')) return new Refusal('busy', { cause, headers: retryAfter });
  return new Refusal('storage_failed', { cause });
};

/** A property of an error that may be somebody else's: of any type, and its getter may throw. */
function read<E extends Error>(error: E, name: keyof E): unknown {
  try {
    return error[name];
  } catch {
    return undefined;
  }
}
