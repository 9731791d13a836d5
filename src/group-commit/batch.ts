import { isThenable } from '../http.js';
import { isNamed } from '../problems.js';
import type { Clock } from '../timers.js';
import { Attempt } from './attempt.js';
import { type CreateMany, type CreateOutcome, type RolledBack, unavailable } from './create-many.js';
import { dedupe, firstCall, type WaitingCreate } from './waiting-create.js';

/**
 * Ends a batch before its text, at 3 bytes a character, fills a statement of 1 MiB: databases refuse longer ones
 * (MySQL's `max_allowed_packet`). A longer plant is sent alone.
 */
export const maxBatchText = 262_144;

/**
 * A rejection that took this long, in milliseconds, waited for a lock, and so will the next. The batch is then split
 * into sixteen parts, not two: two waits find a lone plant among 256, not eight.
 */
export const slowRejectionMs = 100;

/** What a batch needs from its queue. */
export interface BatchQueue<Caller> {
  readonly createMany: CreateMany<Caller>;
  readonly clock: Clock;
  /** Whether the circuit is open: the batch is a probe, whose slot nobody else may use. */
  readonly isProbing: boolean;
  /** Called once. Creates still `open` belong in another batch. */
  onEnd(batch: Batch<Caller>): void;
}

/** Creates that are sent together, and retried together, until each is settled or has to be sent otherwise. */
export class Batch<Caller> {
  /**
   * How it ended: the database `settled` its creates; it rejected several, which have to be sent `apart`; it rolled a
   * lone one back, to be retried `later`; the call `failed`; or all timed out, and the last call was `unsent` or
   * `unanswered`.
   */
  end: 'settled' | 'apart' | 'later' | 'failed' | 'unsent' | 'unanswered' = 'failed';
  /** The database's last error. */
  cause: unknown;
  /** The creates to send: the others are their duplicates. */
  readonly #firsts: readonly WaitingCreate<Caller>[];
  /** The call that has not settled; none while the batch waits for its retry. */
  #call: Attempt | undefined;
  #hasEnded = false;
  #timer: unknown;

  /** @param timeMs how long each create may take, from its call until it settles */
  constructor(
    readonly creates: readonly WaitingCreate<Caller>[],
    readonly timeMs: number,
    readonly queue: BatchQueue<Caller>,
  ) {
    this.#firsts = dedupe(creates);
    this.cause = creates[0]?.cause;
  }

  /** The creates that are not settled. */
  get open(): readonly WaitingCreate<Caller>[] {
    return this.creates.filter(({ isSettled }) => !isSettled);
  }

  send(): void {
    this.#run();
    // A blocking driver has settled by now: no timer.
    if (!this.#hasEnded) this.#startTimer();
  }

  /** Sends the creates, and retries what was rolled back together. Never rejects. */
  async #run(): Promise<void> {
    let creates = this.#firsts;
    for (let attempt = 0; creates.length > 0; attempt++) {
      try {
        const calling = this.#callFor(creates);
        this.#onOutcomes(creates, isThenable(calling) ? await calling : calling);
      } catch (error) {
        this.#onError(creates, error);
      }
      this.#call = undefined;
      for (const create of creates) create.leaveCall();
      if (this.#hasEnded || this.end !== 'later' || (creates.length === 1 && !this.queue.isProbing)) break;
      await new Promise<void>((resolve) => this.queue.clock.setTimer(resolve, retryPause(attempt)));
      for (const create of creates) if (!create.isSettled) create.failIfDisconnected();
      creates = creates.filter(({ isSettled }) => !isSettled);
    }
    this.#finish();
  }

  /** Calls `createMany` with copies: it may change whatever it gets. */
  #callFor(creates: readonly WaitingCreate<Caller>[]): ReturnType<CreateMany<Caller>> {
    this.#call = new Attempt();
    for (const create of creates) create.isInCall = true;
    const plants = creates.map(({ plant }) => ({ ...plant }));
    const contexts = creates.map(({ context }) => context);
    return this.queue.createMany(plants, contexts, this.#call);
  }

  #onOutcomes(creates: readonly WaitingCreate<Caller>[], outcomes: readonly CreateOutcome[]): void {
    if (outcomes.length !== creates.length) throw new TypeError(wrongCount);
    this.end = 'settled';
    creates.forEach((create, i) => {
      const outcome = outcomes[i];
      if (outcome === 'created' || outcome === 'taken') create.settle(outcome);
      else failWith(create, outcome && typeof outcome === 'object' ? outcome : new TypeError(wrongOutcome));
    });
  }

  #onError(creates: readonly WaitingCreate<Caller>[], error: unknown): void {
    const rolledBack = isNamed<RolledBack>(error, 'RolledBack') ? error : undefined;
    this.cause = rolledBack ? rolledBack.cause : error;
    if (!rolledBack) {
      this.end = 'failed';
      for (const create of creates) failWith(create, error);
      return;
    }
    for (const create of creates) create.cause = this.cause;
    if (rolledBack.resend === 'together') this.end = 'later';
    else if (creates.length > 1) this.end = 'apart';
    else {
      this.end = 'settled';
      creates[0]!.fail(error);
    }
  }

  #finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.queue.clock.clearTimer(this.#timer);
    this.queue.onEnd(this);
  }

  #startTimer(): void {
    const { clock } = this.queue;
    const leftMs = firstCall(this.creates) + this.timeMs - clock.now();
    this.#timer = clock.setTimer(() => this.#onTime(), Math.max(0, leftMs));
  }

  /** Rejects the creates that timed out. Creates that time out soon are rejected with them, so that most batches end whole. */
  #onTime(): void {
    const { open } = this;
    const dueSince = this.queue.clock.now() - 0.9 * this.timeMs;
    const isOver = open.every(({ calledAt }) => calledAt <= dueSince);
    // While other creates keep the call alive, it may still send these too.
    const mayBeStored = this.#call?.sent || !isOver;
    const { cause } = this;
    const unanswered = new Error(`the storage did not answer within ${this.timeMs} ms`, { cause });
    for (const first of this.#firsts) {
      const isUnknown = first.isInCall && mayBeStored;
      for (const create of [first, ...(first.duplicates ?? [])]) {
        if (create.isSettled || create.calledAt > dueSince) continue;
        if (isUnknown) create.fail(unanswered);
        else create.refuse(unavailable(cause));
      }
    }
    if (isOver) this.#abort();
    else this.#startTimer();
  }

  #abort(): void {
    this.end = this.#call?.sent ? 'unanswered' : 'unsent';
    this.#call?.abort();
    this.#call = undefined;
    this.#finish();
  }
}

/** 5 ms, doubling to 500 ms, with jitter. */
export function retryPause(attempt: number): number {
  return Math.min(500, 5 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Rejects a create with what its outcome is. Unless that says that nothing was stored, its duplicates remember it. */
function failWith(create: WaitingCreate<unknown>, error: unknown): void {
  create.fail(error);
  if (['PlantRefused', 'RolledBack', 'StorageBusy'].some((name) => isNamed(error, name))) return;
  for (const duplicate of create.duplicates ?? []) duplicate.unknown ??= error;
}

const wrongCount = 'createMany must return one outcome per plant';
const wrongOutcome = "createMany must return 'created', 'taken' or an Error for each plant";
