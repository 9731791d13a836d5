import { isThenable, type Signal } from '../http.js';
import { isNamed } from '../problems.js';
import type { BatchCall, CreateMany, CreateOutcome, RolledBack } from './create-many.js';
import type { BatchReport } from './options.js';
import { dedupe, type WaitingCreate } from './waiting-create.js';

/** One call of `createMany`. */
export class Call<Caller> implements BatchCall {
  /** How it ended, if it has. */
  end: BatchReport['end'] | undefined;
  /** The last error of the database, or of its absence. */
  cause: unknown;
  endedAt = 0;
  /** The creates to send, sorted: the others are their duplicates. */
  readonly firsts: readonly WaitingCreate<Caller>[];
  /** Called when it is aborted. For the storages of this package: a listener of `signal` takes 3 µs. */
  onAbort: (() => void) | undefined;
  #isSent = true;
  #controller: AbortController | undefined;
  #resolve: ((call: this) => void) | undefined;

  constructor(
    readonly creates: readonly WaitingCreate<Caller>[],
    readonly sentAt: number,
    /** Called when it has ended, and after it was aborted once more when `createMany` has settled. */
    readonly onEnd: (call: Call<Caller>, end: BatchReport['end']) => void,
  ) {
    this.firsts = dedupe(creates);
    this.cause = creates[0]?.cause;
  }

  get sent(): boolean {
    return this.#isSent;
  }

  set sent(isSent: boolean) {
    if (isSent && this.#controller?.signal.aborted)
      throw new DOMException('the call was aborted before it was sent', 'AbortError');
    this.#isSent = isSent;
  }

  get signal(): Signal {
    // Created on first read: an AbortController costs 2 µs, and most calls ignore it.
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Resolves when the call has ended; returns `undefined` if `createMany` has blocked until then. Never rejects. */
  send(createMany: CreateMany<Caller>): Promise<this> | undefined {
    // Copies: `createMany` may change whatever it gets.
    const plants = this.firsts.map(({ plant }) => ({ ...plant }));
    const contexts = this.firsts.map(({ context }) => context);
    try {
      const calling = createMany(plants, contexts, this);
      if (!isThenable(calling)) return this.#onOutcomes(calling);
      const outcomes = Promise.resolve(calling).then((outcomes) => this.#onOutcomes(outcomes));
      outcomes.catch((error) => this.#onError(error));
      return new Promise((resolve) => {
        this.#resolve = resolve;
      });
    } catch (error) {
      return this.#onError(error);
    }
  }

  /** Ends the call although `createMany` has not settled: it must send nothing more, and release what it holds. */
  abort(timeoutMs: number): void {
    const message = `the storage did not ${this.#isSent ? 'answer' : 'send'} within ${timeoutMs} ms`;
    if (this.#isSent || this.cause === undefined) this.cause = new Error(message, { cause: this.cause });
    for (const create of this.creates) {
      if (this.#isSent) create.fail(this.cause);
      else create.refuse(this.cause);
    }
    this.#finish(this.#isSent ? 'unanswered' : 'unsent');
    this.#controller ??= new AbortController();
    this.#controller.abort();
    this.onAbort?.();
  }

  #onOutcomes(outcomes: readonly CreateOutcome[]): undefined {
    if (outcomes.length !== this.firsts.length) throw new TypeError(wrongCount);
    this.firsts.forEach((create, i) => {
      const outcome = outcomes[i];
      if (outcome === 'created' || outcome === 'taken') create.settle(outcome);
      else create.fail(outcome && typeof outcome === 'object' ? outcome : new TypeError(wrongOutcome));
    });
    this.#finish('settled');
  }

  #onError(error: unknown): undefined {
    if (!isNamed<RolledBack>(error, 'RolledBack')) {
      this.cause = error;
      for (const create of this.firsts) create.fail(error);
      return this.#finish('failed');
    }
    this.cause = error.cause;
    for (const create of this.creates) create.cause = error.cause;
    if (error.resend === 'together') return this.#finish('together');
    if (this.firsts.length > 1) return this.#finish('apart');
    this.firsts[0]?.fail(error);
    this.#finish('settled');
  }

  #finish(end: BatchReport['end']): undefined {
    this.end = end;
    this.onEnd(this, end);
    this.#resolve?.(this);
  }
}

const wrongCount = 'createMany must return one outcome per plant';
const wrongOutcome = "createMany must return 'created', 'taken' or an Error for each plant";
