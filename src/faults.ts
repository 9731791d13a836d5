import { isScope, scopeInsufficient } from './bearer.js';
import { tooLarge } from './body.js';
import type { Complete, PlantStoreOptions } from './options.js';
import { isNamed, propertyOf, Refusal } from './problems.js';

/** Who is at work on a request. The same throw means something else from each of them. */
export interface Party {
  /** As the deadline's error calls it. */
  readonly name: string;
  /** Turns what it threw into a refusal; `isLate` if that is the deadline's error. */
  readonly onThrow: (cause: unknown, isLate: boolean, settings: Complete<PlantStoreOptions>) => Refusal;
}

export const library: Party = {
  name: 'plant-store',
  onThrow: (cause) => new Refusal('internal_error', { cause }),
};

/** An outage of the verifier is never a 401. */
export const verifier: Party = {
  name: 'verifyToken',
  onThrow(cause) {
    const scope = isNamed(cause, 'InsufficientScope') && propertyOf(cause, 'scope');
    return isScope(scope) ? scopeInsufficient(scope) : new Refusal('verification_failed', { cause });
  },
};

/** The host or the connection, which have the body. */
export const bodyOwner: Party = {
  name: 'the body',
  onThrow(cause, isLate, { bodyLimit }) {
    const problem = isNamed(cause, 'BodyError') && propertyOf(cause, 'problem');
    if (problem === 'body_too_large') return tooLarge(bodyLimit);
    if (problem === 'body_incomplete' || isLate) return new Refusal('body_incomplete');
    return new Refusal('body_unreadable', { cause });
  },
};

export const storageCreate: Party = {
  name: 'storage.create',
  onThrow(cause, isLate, { acceptReplays }) {
    const headers = { 'retry-after': '1' };
    // Retrying an unknown outcome is safe only if an equal plant counts as success.
    if (isLate) return new Refusal('timed_out', acceptReplays ? { cause, headers } : { cause });
    if (isNamed(cause, 'PlantRefused')) {
      const message = propertyOf(cause, 'message');
      const isText = typeof message === 'string' && message !== '';
      return new Refusal('plant_refused', { message: isText ? message : undefined });
    }
    if (isNamed(cause, 'StorageBusy')) return new Refusal('busy', { cause, headers });
    return new Refusal('storage_failed', { cause });
  },
};

export const storageFind: Party = { ...storageCreate, name: 'storage.find' };
