import type { Signal } from '../http.js';
import { isFaultOfProgram, isNamed } from '../problems.js';
import { mayQuote, ownWords } from '../quotable.js';
import { systemClock } from '../timers.js';
import { type BatchCall, type CreateMany, type CreateOutcome, RolledBack } from './create-many.js';
import { dedupe } from './dedupe.js';
import { CallTimeout, type Rollback, unavailable } from './errors.js';
import type { BatchReport } from './options.js';
import type { WaitingCreate } from './waiting-create.js';

/** One call of `createMany`. It ends when `createMany` has settled, or when it is aborted. */
export class Call<Caller> implements BatchCall {
  /** How it ended, if it has. */
  end: BatchReport['end'] | undefined = undefined;
  /** Whether `createMany` has settled: later than the end, if the call was aborted. */
  hasSettled = false;
  /** Why it has no outcome: the last error of the database, or of its absence. */
  cause: unknown = undefined;
  /** Whether another transaction has locked the row of its only plant. */
  isRowLocked = false;
  /** When its plants were sent: later than its start, if it waited for a connection. */
  sentAt: number;
  endedAt = 0;
  /** The creates that are sent. The others are their duplicates. */
  readonly firsts: readonly WaitingCreate<Caller>[];
  #isSent = true;
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
  abort(limit: string): void {
    const lastError = this.creates[0]!.rollback?.cause;
    if (this.#isSent) {
      this.cause = new CallTimeout(`the storage did not answer within ${limit}`, { cause: lastError });
      for (const create of this.creates) create.fail(this.cause);
    } else {
      this.cause = lastError ?? new CallTimeout(`the storage did not send within ${limit}`);
      for (const create of this.creates) create.failNotStored(unavailable(this.cause));
    }
    this.#finish(this.#isSent ? 'unanswered' : 'unsent');
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
      this.#mayQuote(error);
      if (!this.end) this.#onError(error);
    }
    this.hasSettled = true;
  }

  #onOutcomes(outcomes: readonly CreateOutcome[]): void {
    if (outcomes.length !== this.firsts.length) throw ownWords(new TypeError(wrongCount));
    this.firsts.forEach((create, i) => {
      const outcome = outcomes[i];
      if (outcome === 'created' || outcome === 'taken') create.settle(outcome);
      else this.#failWith(outcome, create);
    });
    this.#finish('settled');
  }

  #failWith(outcome: unknown, create: WaitingCreate<Caller>): void {
    const isError = Object(outcome) === outcome;
    if (isError) this.#mayQuote(outcome);
    create.fail(isError ? outcome : ownWords(new TypeError(wrongOutcome)));
  }

  /** An error may quote each plant and each request of the call, whichever create gets it. */
  #mayQuote(error: unknown): void {
    mayQuote(error, ...this.firsts.flatMap(({ plant, context }) => [plant, context?.request]));
  }

  #onError(error: unknown): void {
    if (isNamed<RolledBack>(error, 'RolledBack')) this.#onRollback(error);
    else this.#onUnknownOutcome(error);
  }

  /** The plants may be stored. */
  #onUnknownOutcome(error: unknown): void {
    // Duplicates were not sent: they are sent next, unless that cannot help.
    const failed = isFaultOfProgram(error) ? this.creates : this.firsts;
    for (const create of failed) create.fail(error);
    this.#finish('failed');
  }

  /** Nothing was stored. */
  #onRollback(error: RolledBack): void {
    const { resend, cause } = error;
    this.cause = cause;
    const isLone = this.firsts.length === 1;
    if (resend === 'apart' && isLone) this.#reject(error);
    else if (resend === 'apart') this.#keep('batch', 'apart');
    else if (isFaultOfProgram(cause)) this.#rejectAll(new RolledBack('apart', cause));
    else if (resend === 'together') this.#keep('outage', 'together');
    else if (isLone) this.#keep('locked row', 'together');
    else this.#keep('batch', 'apart');
  }

  /** Ends the call with its only plant rejected by the database. */
  #reject(error: RolledBack): void {
    for (const create of this.firsts) create.fail(error);
    this.#finish('settled');
  }

  /** Ends the call with nothing to be sent again. */
  #rejectAll(error: RolledBack): void {
    for (const create of this.creates) create.failNotStored(error);
    this.#finish('failed');
  }

  /** Ends the call with its creates to be sent again. */
  #keep(reason: Rollback['reason'], end: 'together' | 'apart'): void {
    this.isRowLocked = reason === 'locked row';
    const rollback = { reason, cause: this.cause };
    for (const create of this.creates) create.rollback = rollback;
    this.#finish(end);
  }

  #finish(end: BatchReport['end']): void {
    this.end = end;
    this.onEnd(this, end);
    this.#resolve();
  }
}

const wrongCount = 'createMany must return one outcome per plant';
const wrongOutcome = "createMany must return 'created', 'taken' or an Error for each plant";
