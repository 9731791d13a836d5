import type { VerifyContext } from './bearer.js';
import type { Deadline } from './deadline.js';
import type { PlantRequest, Signal } from './http.js';
import { WithSignal } from './lazy-signal.js';
import type { StorageContext } from './storage.js';

/** What `verifyToken` and the storage get in addition to the token and the plant. */
export class Context<Caller> extends WithSignal implements VerifyContext, StorageContext<Caller> {
  caller = undefined as Caller;
  readonly #deadline: Deadline;

  constructor(
    readonly request: PlantRequest,
    deadline: Deadline,
  ) {
    super();
    this.#deadline = deadline;
  }

  getSignal(): Signal {
    return this.#deadline.signal;
  }

  isExpired(): boolean {
    return Boolean(this.#deadline.expired);
  }
}

/** Whether a request's client has disconnected. Creates no signal on hosts that know this without one. */
export function isDisconnected(request: PlantRequest): boolean {
  try {
    const known = request instanceof WithSignal ? request.isAborted?.() : undefined;
    if (known !== undefined) return known;
  } catch {} // A Proxy has no private fields, and may override `signal`: ask that instead.
  return request.signal?.aborted === true;
}
