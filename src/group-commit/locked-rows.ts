import type { WaitingCreate } from './waiting-create.js';

/** Creates of one id whose row another transaction has locked. */
export class LockedRow<Caller> {
  #creates: readonly WaitingCreate<Caller>[];

  constructor(creates: readonly WaitingCreate<Caller>[]) {
    this.#creates = creates;
  }

  /** The creates that still wait for it. */
  get waiting(): readonly WaitingCreate<Caller>[] {
    this.#creates = this.#creates.filter(({ isSettled }) => !isSettled);
    return this.#creates;
  }

  /** Adds a create if one of the same id still waits. Returns whether it did. */
  join(create: WaitingCreate<Caller>): boolean {
    if (!this.waiting[0]?.hasIdOf(create)) return false;
    this.#creates = [...this.#creates, create];
    return true;
  }
}

/** The rows that are retried alone, while other creates are sent. */
export class LockedRows<Caller> {
  readonly #rows = new Set<LockedRow<Caller>>();

  add(row: LockedRow<Caller>): void {
    this.#rows.add(row);
  }

  remove(row: LockedRow<Caller>): void {
    this.#rows.delete(row);
  }

  /** Adds a create to the locked row of its id, if there is one: a batch with it would wait for the lock. */
  join(create: WaitingCreate<Caller>): boolean {
    for (const row of this.#rows) if (row.join(create)) return true;
    return false;
  }
}
