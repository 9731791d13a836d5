import { systemClock } from '../timers.js';
import { type Batch, cutIntoParts, type Pace, partSize } from './batch.js';
import type { Call } from './call.js';
import type { Circuit } from './circuit.js';
import type { Turn } from './turn.js';
import type { WaitingCreate } from './waiting-create.js';

/** Creates that are sent together. */
type Part<Caller> = readonly WaitingCreate<Caller>[];

/** What a leader needs of the queue. */
export interface Sender<Caller> {
  readonly turn: Turn;
  readonly settings: { readonly blocksEventLoop: boolean };
  readonly circuit: Circuit;
  readonly pace: Pace;
  readonly lockedRows: LockedRows<Caller>;
  /**
   * Sends those creates that still wait and have more than `reserveMs` of their time left. Resolves with their call when it
   * has ended, or with `undefined` if there is nothing to send. Never rejects.
   */
  send(creates: Part<Caller>, reserveMs: number): Promise<Call<Caller> | undefined>;
  /** Rejects those creates that have no more than `reserveMs` of their time left. */
  expireLate(creates: Part<Caller>, reserveMs: number): void;
}

/** Sends the creates of a batch until each is settled. Runs in the call of the create that opened the batch. */
export class Leader<Caller> {
  constructor(readonly queue: Sender<Caller>) {}

  /** Waits for the batch's turn, closes it and sends it. Never rejects. */
  async lead(batch: Batch<Caller>): Promise<void> {
    // At least one microtask: creates that are called together share a batch.
    await this.queue.turn.take('new');
    // A driver that blocks would end each call before a second create could join.
    if (this.queue.settings.blocksEventLoop) await endOfIteration();
    await this.#sendParts([batch.close()]);
  }

  /** Sends parts, and what is left of each in parts of its own, one a turn. Begins in a turn, which it ends. */
  async #sendParts(parts: readonly Part<Caller>[]): Promise<void> {
    const { turn, pace } = this.queue;
    const left = [...parts];
    while (left.length > 0) {
      const part = left.shift()!;
      // As the last call took: not known before the turn.
      const { maxPlants } = pace;
      if (part.length > maxPlants) left.unshift(part.slice(maxPlants));
      left.push(...(await this.#sendPart(part.slice(0, maxPlants))));
      turn.pass();
      if (left.length > 0) await turn.take('rest');
    }
  }

  /** Sends creates in this turn. Returns what is left to send, in the parts in which to send it. */
  async #sendPart(part: Part<Caller>): Promise<Part<Caller>[]> {
    const { queue } = this;
    // The row may have been found locked since these creates were called.
    const free = part.filter((create) => !create.isSettled && !queue.lockedRows.join(create));
    for (;;) {
      const call = await this.#sendAfterPause(free, this.#reserveMs(free.length));
      if (!call) return [];
      const left = call.creates.filter(({ isSettled }) => !isSettled);
      if (call.isRolledBack) queue.circuit.onRollback(call.cause);
      if (call.isUnsent) queue.circuit.onUnavailable(systemClock.now());
      // Which of several plants it was about shows when they are sent in parts.
      if (!call.isLone) return cutIntoParts(left, partSize(left.length));
      // Duplicates of a create that was rejected.
      if (!call.isRolledBack) return left.length > 0 ? [left] : [];
      if (!queue.circuit.isOpen) {
        this.#retryAlone(left);
        return [];
      }
      // A probe of which nothing was sent ends, and the next one follows after a pause. Otherwise it goes on until it times out.
      if (call.isUnsent) queue.expireLate(left, Number.POSITIVE_INFINITY);
    }
  }

  /** Sends those creates that still wait, after the pause that the circuit asks for. */
  async #sendAfterPause(creates: Part<Caller>, reserveMs: number): Promise<Call<Caller> | undefined> {
    // The turn is not kept for nobody.
    if (creates.every(({ isSettled }) => isSettled)) return undefined;
    const { circuit } = this.queue;
    const pauseMs = circuit.pauseMs(systemClock.now());
    if (pauseMs > 0) {
      // Whoever would be late after the pause is told before it: a pause for each of them would make all behind them late, too.
      // Behind a probe there is nobody.
      if (!circuit.isOpen) this.queue.expireLate(creates, reserveMs + pauseMs);
      if (creates.every(({ isSettled }) => isSettled)) return undefined;
      await wait(pauseMs);
    }
    return this.queue.send(creates, reserveMs);
  }

  /** How much of its time a create must have left to be sent. */
  #reserveMs(plants: number): number {
    // A probe has less time than a call before the outage took, and somebody has to find out whether it is over.
    return this.queue.circuit.isOpen ? 0 : this.queue.pace.reserveMs(plants);
  }

  /** Retries creates of one id, with pauses, in turns of their own, while others are sent. Later creates of the id join them. */
  async #retryAlone(creates: Part<Caller>): Promise<void> {
    const { queue } = this;
    const row = new LockedRow(creates);
    queue.lockedRows.add(row);
    for (let attempt = 0; ; attempt++) {
      await pause(attempt);
      await queue.turn.take('rest');
      const call = await this.#sendAfterPause(row.waiting, 0);
      if (!call?.isRolledBack) break;
      queue.turn.pass();
    }
    queue.lockedRows.remove(row);
    // Duplicates of a create that was rejected.
    await this.#sendParts([row.waiting]);
  }
}

/** Creates of one id whose row another transaction has locked. */
class LockedRow<Caller> {
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

const firstPauseMs = 5;
const longestPauseMs = 500;

/** Resolves after 5 ms, doubling with each attempt to 500 ms, or up to half less: instances must not retry in step. */
function pause(attempt: number): Promise<void> {
  const ms = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
  return wait(ms);
}

const endOfIteration = () => new Promise<void>((resolve) => systemClock.atEndOfIteration(resolve));

const wait = (ms: number) => new Promise<void>((resolve) => systemClock.setTimer(resolve, ms));
