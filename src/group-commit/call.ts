import { ownWords } from '../errors/own-words.js';
import { isFaultOfProgram, isNamed } from '../errors/problems.js';
import type { Signal } from '../http.js';
import { systemClock } from '../timers.js';
import { dedupe } from './batch.js';
import type { Circuit } from './circuit.js';
import {
  type BatchCall,
  type CreateMany,
  type CreateOutcome,
  type RollbackReason,
  RolledBack,
} from './create-many.js';
import { CallTimeout, unavailable } from './errors.js';
import type { BatchReport } from './options.js';
import type { WaitingCreate } from './waiting-create.js';

/** One call of `createMany`. It ends when `createMany` has settled, or when it is aborted. */
export class Call<Caller> implements BatchCall {
  /** How it ended, if it has. */
  end: BatchReport['end'] | undefined = undefined;
  /** Whether `createMany` has settled: later than the end, if the call was aborted. */
  hasSettled = false;
  /** Whether it was ended although `createMany` had not settled. */
  isAborted = false;
  /** Why it has no outcome: the last error of the database, or of its absence. */
  cause: unknown = undefined;
  /** When its plants were sent: later than its start, if it waited for a connection. */
  sentAt: number;
  endedAt = 0;
  /** The creates that are sent. The others are their duplicates. */
  readonly firsts: readonly WaitingCreate<Caller>[];
  waitsFor: (() => string | undefined) | undefined = undefined;
  #isSent = true;
  #succeeded = 0;
  #controller: AbortController | undefined = undefined;
  #resolve: () => void = () => {};

  constructor(
    /** One at least. */
    readonly creates: readonly WaitingCreate<Caller>[],
    readonly startedAt: number,
    /** Called when it ends, in the same turn, so that its places in the queue are free before its creates go on. */
    readonly onEnd: (call: Call<Caller>, end: BatchReport['end']) => void,
  ) {
    this.firsts = dedupe(creates);
    this.sentAt = startedAt;
  }

  get isLone(): boolean {
    return this.firsts.length === 1;
  }

  /** How many of its plants were told an error. */
  get failed(): number {
    return this.firsts.filter(({ isSettled }) => isSettled).length - this.#succeeded;
  }

  /** Whether it was rolled back, and may be stored as it is, if it is sent again. */
  get isRolledBack(): boolean {
    return this.end === 'conflict' || this.end === 'locked';
  }

  /** Whether it has failed with nothing sent. */
  get isUnsent(): boolean {
    return this.end === 'unavailable' || (this.isRolledBack && !this.#isSent);
  }

  get sent(): boolean {
    return this.#isSent;
  }

  set sent(isSent: boolean) {
    if (isSent && this.#controller?.signal.aborted)
      throw new DOMException('the call was aborted before it was sent', 'AbortError');
    if (isSent && !this.#isSent) this.sentAt = systemClock.now();
    this.#isSent = isSent;
  }

  get signal(): Signal {
    // Created on first read: an AbortController costs 2 µs, and many calls ignore it.
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Resolves when the call has ended. Never rejects. */
  run(createMany: CreateMany<Caller>): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#run(createMany);
    });
  }

  /** Ends the call although `createMany` has not settled: it must send nothing more, and release what it holds. */
  abort({ limit, cause: outage }: Circuit): void {
    const { rollback } = this.creates[0]!;
    // Of several plants, it may have been about another one.
    const lastError = rollback?.isLone ? rollback.cause : outage;
    if (this.#isSent) {
      this.cause = new CallTimeout(`the storage did not answer within ${limit}`, { cause: lastError });
      for (const create of this.creates) create.fail(this.cause);
    } else {
      const wait = this.waitsFor?.();
      const text = `the storage did not send within ${limit}${wait ? `: ${wait}` : ''}`;
      this.cause = lastError ?? new CallTimeout(text);
      for (const create of this.creates) create.failNotStored(unavailable(this.cause));
    }
    this.isAborted = true;
    this.#finish(this.#isSent ? 'unknown' : 'unavailable');
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }

  async #run(createMany: CreateMany<Caller>): Promise<void> {
    // Copies: `createMany` may change whatever it gets.
    const plants = this.firsts.map(({ plant }) => ({ ...plant }));
    const contexts = this.firsts.map(({ context }) => context);
    try {
      const outcomes = await createMany(plants, contexts, this);
      if (!this.end) this.#onOutcomes(outcomes);
    } catch (error) {
      if (!this.end) this.#onError(error);
    }
    this.hasSettled = true;
  }

  #onOutcomes(outcomes: readonly CreateOutcome[]): void {
    if (outcomes.length !== this.firsts.length) throw ownWords(new TypeError(wrongCount));
    this.firsts.forEach((create, i) => {
      const outcome = outcomes[i];
      if (outcome === 'created' || outcome === 'taken') this.#succeed(create, outcome);
      else this.#failWith(outcome, create);
    });
    this.#finish(this.#succeeded > 0 ? 'settled' : 'rejected');
  }

  #succeed(create: WaitingCreate<Caller>, outcome: 'created' | 'taken'): void {
    this.#succeeded++;
    create.settle(outcome);
  }

  #failWith(outcome: unknown, create: WaitingCreate<Caller>): void {
    const isError = Object(outcome) === outcome;
    create.fail(isError ? outcome : ownWords(new TypeError(wrongOutcome)));
  }

  #onError(error: unknown): void {
    if (isNamed<RolledBack>(error, 'RolledBack')) this.#onRollback(error);
    else if (isNamed(error, 'StorageBusy')) this.#onFailure(error, 'unavailable');
    else this.#onFailure(error, 'unknown');
  }

  /** If the end is unknown, the plants may be stored. */
  #onFailure(error: unknown, end: 'unavailable' | 'unknown'): void {
    // Duplicates were not sent: they are sent next, unless that cannot help.
    this.cause = error;
    const failed = isFaultOfProgram(error) ? this.creates : this.firsts;
    for (const create of failed) create.fail(error);
    this.#finish(end);
  }

  /** Nothing was stored. */
  #onRollback(error: RolledBack): void {
    const { reason, cause } = error;
    this.cause = cause;
    if (reason === 'unusable') this.#rejectAll(error, reason);
    else if (reason !== 'rejected' && isFaultOfProgram(cause))
      this.#rejectAll(new RolledBack('rejected', cause), 'rejected');
    else if (reason === 'rejected' && this.isLone) this.#reject(error);
    else this.#keep(reason);
  }

  /** Ends the call with its only plant rejected by the database. */
  #reject(error: RolledBack): void {
    for (const create of this.firsts) create.fail(error);
    this.#finish('rejected');
  }

  /** Ends the call with nothing to be sent again: each plant would fail again. */
  #rejectAll(error: RolledBack, end: 'rejected' | 'unusable'): void {
    for (const create of this.creates) create.failNotStored(error);
    this.#finish(end);
  }

  /** Ends the call with its creates to be sent again. */
  #keep(reason: RollbackReason): void {
    const callMs = systemClock.now() - this.startedAt;
    const rollback = { reason, isLone: this.isLone, cause: this.cause, callMs };
    for (const create of this.creates) create.rollback = rollback;
    this.#finish(reason);
  }

  #finish(end: BatchReport['end']): void {
    this.end = end;
    this.onEnd(this, this.isUnsent ? 'unavailable' : end);
    this.#resolve();
  }
}

const wrongCount = 'createMany must return one outcome per plant';
const wrongOutcome = "createMany must return 'created', 'taken' or an Error for each plant";
