import { isScope, scopeInsufficient } from './bearer.js';
import { tooLarge } from './body.js';
import type { Complete, PlantStoreOptions } from './options.js';
import { isNamed, propertyOf, Refusal } from './problems.js';

/** Who is at work on a request. The same throw means something else from each of them. */
export interface Party {
  /** As the deadline's error calls it. */
  readonly name: string;
  /** Turns what it threw into a refusal; `isLate` if that is the deadline's error. */
  readonly onThrow: (thrown: unknown, isLate: boolean, settings: Complete<PlantStoreOptions>) => Refusal;
}

export const library: Party = {
  name: 'plant-store',
  onThrow: () => new Refusal('internal_error'),
};

/** An outage of the verifier is never a 401. */
export const verifier: Party = {
  name: 'verifyToken',
  onThrow(thrown) {
    const scope = isNamed(thrown, 'InsufficientScope') && propertyOf(thrown, 'scope');
    return isScope(scope) ? scopeInsufficient(scope) : new Refusal('verification_failed');
  },
};

/** The host or the connection, which have the body. */
export const bodyOwner: Party = {
  name: 'the body',
  onThrow(thrown, isLate, { bodyLimit }) {
    const problem = isNamed(thrown, 'BodyError') && propertyOf(thrown, 'problem');
    if (problem === 'body_too_large') return tooLarge(bodyLimit);
    if (problem === 'body_incomplete' || isLate) return new Refusal('body_incomplete');
    return new Refusal('body_unreadable');
  },
};

export const storageParty: Party = {
  name: 'the storage',
  onThrow(thrown, isLate, { acceptReplays }) {
    const headers = { 'retry-after': '1' };
    // Retrying an unknown outcome is safe only if an equal plant counts as success.
    if (isLate) return new Refusal('timed_out', acceptReplays ? { headers } : {});
    if (isNamed(thrown, 'PlantRefused')) {
      const message = propertyOf(thrown, 'message');
      return new Refusal('plant_refused', typeof message === 'string' && message ? { message } : {});
    }
    return isNamed(thrown, 'StorageBusy') ? new Refusal('busy', { headers }) : new Refusal('storage_failed');
  },
};
