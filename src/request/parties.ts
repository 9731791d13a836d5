import type { Complete } from '../checks/rules.js';
import { isNamed, Refusal, tooLarge } from '../errors/problems.js';
import { propertyOf } from '../errors/property-of.js';
import type { PlantStoreOptions } from '../options.js';
import { scopeInsufficient } from './headers.js';

/** The party that is working on the request. The same error means something different from each. */
export interface Party {
  /** Its name in the error of an expired timeout. */
  readonly name: string;
  /** Translates an error of this party; `isTimeout` if the timeout expired. */
  readonly toRefusal: (thrown: unknown, isTimeout: boolean, settings: Complete<PlantStoreOptions>) => Refusal;
}

export const library: Party = { name: 'plant-store', toRefusal: () => new Refusal('internal_error') };

/** An outage of the verifier is never a 401. */
export const verifier: Party = {
  name: 'verifyToken',
  toRefusal: (thrown) => scopeInsufficient(thrown) ?? new Refusal('verification_failed'),
};

/** Whoever supplies the body: host or connection. */
export const bodyOwner: Party = {
  name: 'the request body',
  toRefusal(thrown, isTimeout, { bodyLimit }) {
    const problem = isNamed(thrown, 'BodyError') && propertyOf(thrown, 'problem');
    if (problem === 'body_too_large') return tooLarge(bodyLimit);
    if (problem === 'body_incomplete' || isTimeout) return new Refusal('body_incomplete');
    return new Refusal('body_unreadable');
  },
};

/** The client may send the request again after a second. */
const retryAfter = { 'retry-after': '1' };

const refuseBusy = () => new Refusal('busy', undefined, retryAfter);

export const storageParty: Party = {
  name: 'storage',
  toRefusal(thrown, isTimeout, { acceptReplays }) {
    // Retrying an unknown outcome is safe only if an equal plant counts as success.
    if (isTimeout) return new Refusal('timed_out', undefined, acceptReplays ? retryAfter : {});
    if (isNamed(thrown, 'PlantRefused')) {
      const message = propertyOf(thrown, 'message');
      return new Refusal('plant_refused', typeof message === 'string' && message ? message : undefined);
    }
    const rolledBack = isNamed(thrown, 'RolledBack') && propertyOf(thrown, 'reason');
    if (rolledBack === 'rejected' || rolledBack === 'unusable') return new Refusal('storage_rejected');
    const isBusy = rolledBack === 'conflict' || rolledBack === 'locked' || isNamed(thrown, 'StorageBusy');
    return isBusy ? refuseBusy() : new Refusal('storage_failed');
  },
};

/** The function that a `guard` calls. */
export const guardedHandler: Party = {
  name: 'the guarded handler',
  toRefusal(thrown, isTimeout) {
    // No plant was to be stored.
    if (isTimeout) return new Refusal('timed_out', 'The server timed out. Try again later.');
    if (isNamed(thrown, 'StorageBusy')) return refuseBusy();
    return scopeInsufficient(thrown) ?? new Refusal('internal_error');
  },
};
