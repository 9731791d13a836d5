import { isScope, scopeInsufficient } from './bearer.js';
import type { Complete, PlantStoreOptions } from './options.js';
import { guardTimedOut, isNamed, propertyOf, Refusal, tooLarge } from './problems.js';

/** Who is working on the request. The same error means something different from each. */
export interface Party {
  /** As the error of an expired deadline names it. */
  readonly name: string;
  /** Translates what it threw into a refusal; `isTimeout` if the deadline expired. */
  readonly onThrow: (thrown: unknown, isTimeout: boolean, settings: Complete<PlantStoreOptions>) => Refusal;
}

export const library: Party = {
  name: 'plant-store',
  onThrow: () => new Refusal('internal_error'),
};

/** An outage of the verifier is never a 401. */
export const verifier: Party = {
  name: 'verifyToken',
  onThrow: (thrown) => insufficientScope(thrown) ?? new Refusal('verification_failed'),
};

/** Whoever supplies the body: host or connection. */
export const bodyOwner: Party = {
  name: 'the request body',
  onThrow(thrown, isTimeout, { bodyLimit }) {
    const problem = isNamed(thrown, 'BodyError') && propertyOf(thrown, 'problem');
    if (problem === 'body_too_large') return tooLarge(bodyLimit);
    if (problem === 'body_incomplete' || isTimeout) return new Refusal('body_incomplete');
    return new Refusal('body_unreadable');
  },
};

export const storageParty: Party = {
  name: 'storage',
  onThrow(thrown, isTimeout, { acceptReplays }) {
    const headers = { 'retry-after': '1' };
    // Retrying an unknown outcome is safe only if an equal plant counts as success.
    if (isTimeout) return new Refusal('timed_out', acceptReplays ? { headers } : {});
    if (isNamed(thrown, 'PlantRefused')) {
      const message = propertyOf(thrown, 'message');
      return new Refusal('plant_refused', typeof message === 'string' && message ? { message } : {});
    }
    const rolledBack = isNamed(thrown, 'RolledBack') && propertyOf(thrown, 'resend');
    if (rolledBack === 'apart') return new Refusal('storage_rejected');
    const isBusy = rolledBack === 'together' || isNamed(thrown, 'StorageBusy');
    return isBusy ? new Refusal('busy', { headers }) : new Refusal('storage_failed');
  },
};

/** The function that a `guard` calls. */
export const guardedHandler: Party = {
  name: 'the guarded handler',
  onThrow(thrown, isTimeout) {
    if (isTimeout) return new Refusal('timed_out', { message: guardTimedOut });
    if (isNamed(thrown, 'StorageBusy')) return new Refusal('busy', { headers: { 'retry-after': '1' } });
    return insufficientScope(thrown) ?? new Refusal('internal_error');
  },
};

/** The refusal for an `InsufficientScope`. */
function insufficientScope(thrown: unknown): Refusal | undefined {
  const scope = isNamed(thrown, 'InsufficientScope') && propertyOf(thrown, 'scope');
  return isScope(scope) ? scopeInsufficient(scope) : undefined;
}
