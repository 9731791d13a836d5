import type { Clock } from './clock.js';
import type { Create } from './create.js';
import type { BatchCall, CreateMany, CreateOutcome, RolledBack } from './create-many.js';
import { isThenable, type MaybePromise } from './http.js';
import { isNamed } from './problems.js';
import { StorageBusy } from './storage.js';

/**
 * How a batch ended: the database `answered`; it did not, and the creates `failed`; or the time of all was over, and
 * the last call was `unsent` or `unanswered`.
 */
export type BatchEnd = 'answered' | 'failed' | 'unsent' | 'unanswered';

/** What a batch needs of its queue. */
export interface BatchQueue<Caller> {
  readonly createMany: CreateMany<Caller>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Takes note that a create is answered and that no call has it. Called again, it does nothing. */
  leave(create: Create<Caller>): void;
  /** Called once. `rest` are creates that were not sent and have to be, in another batch, by their deadlines. */
  onEnd(end: BatchEnd, rest: readonly Create<Caller>[], cause: unknown): void;
}

interface Call<Caller> extends BatchCall {
  readonly creates: readonly Create<Caller>[];
  isGivenUp: boolean;
}

/** Creates that are sent, and sent again, in halves if need be, until each is answered or the time of all is over. */
export class Batch<Caller> {
  /** Whether creates that enter the queue now have to wait for this batch. */
  isOnItsWay = true;
  readonly #creates: readonly Create<Caller>[];
  readonly #queue: BatchQueue<Caller>;
  /** The call that is not answered yet; none while the batch waits to be sent again. */
  #call: Call<Caller> | undefined;
  #end: BatchEnd = 'failed';
  #hasEnded = false;
  /** The database's last error. */
  #cause: unknown;
  #timer: unknown;

  /** @param creates sorted by id, each id once within its namespace */
  constructor(creates: readonly Create<Caller>[], queue: BatchQueue<Caller>) {
    this.#creates = creates;
    this.#queue = queue;
  }

  send(): void {
    const sending = this.#send(this.#creates);
    // A blocking driver has answered by now: no timer.
    if (this.#creates.every(({ isAnswered }) => isAnswered)) this.#finish(this.#end);
    else {
      this.#startTimer();
      sending.then(() => this.#finish(this.#end));
    }
  }

  /** Sends creates until each has an outcome, and answers them. Never rejects. */
  async #send(creates: readonly Create<Caller>[]): Promise<void> {
    let batch = creates;
    for (let attempt = 0; batch.length > 0; attempt++) {
      try {
        const calling = this.#callCreateMany(batch);
        const outcomes = isThenable(calling) ? await calling : calling;
        if (outcomes.length !== batch.length) {
          throw new TypeError('createMany must answer one outcome per plant');
        }
        this.#end = 'answered';
        return this.#settle(batch, outcomes);
      } catch (error) {
        const rolledBack = isNamed<RolledBack>(error, 'RolledBack') ? error : undefined;
        this.#cause = rolledBack ? rolledBack.cause : error;
        if (rolledBack?.resend === 'apart') this.#end = 'answered';
        if (rolledBack?.resend === 'apart' && batch.length > 1) {
          const half = batch.length >> 1;
          await this.#send(this.#unanswered(batch.slice(0, half)));
          return this.#send(this.#unanswered(batch.slice(half)));
        }
        if (rolledBack?.resend !== 'together') return this.#settle(batch);
      }
      this.#call = undefined;
      await pause(this.#queue.clock, attempt);
      batch = this.#unanswered(batch);
    }
  }

  #callCreateMany(batch: readonly Create<Caller>[]): MaybePromise<readonly CreateOutcome[]> {
    this.#call = { creates: batch, sent: true, isGivenUp: false, onGiveUp: undefined };
    return this.#queue.createMany(
      batch.map(({ plant }) => plant),
      batch.map(({ context }) => context),
      this.#call,
    );
  }

  /** The creates that still wait for an answer; the others leave. */
  #unanswered(creates: readonly Create<Caller>[]): readonly Create<Caller>[] {
    return creates.filter((create) => {
      create.failIfGone();
      if (create.isAnswered) this.#queue.leave(create);
      return !create.isAnswered;
    });
  }

  /** Answers the creates of a call that has ended, without outcomes with its error. */
  #settle(batch: readonly Create<Caller>[], outcomes?: readonly CreateOutcome[]): void {
    this.#call = undefined;
    batch.forEach((create, i) => {
      const outcome = outcomes?.[i];
      if (outcome === 'created' || outcome === 'taken') {
        create.done(outcome);
        for (const duplicate of create.duplicates ?? []) {
          duplicate.done('taken');
          this.#queue.leave(duplicate);
        }
      } else create.fail(outcomes ? errorOf(outcome) : this.#cause);
      this.#queue.leave(create);
    });
    this.isOnItsWay = this.#creates.some(({ isAnswered }) => !isAnswered);
  }

  #finish(end: BatchEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.isOnItsWay = false;
    this.#queue.clock.clearTimer(this.#timer);
    // What is open now are duplicates of creates that failed.
    this.#queue.onEnd(end, this.#open().sort(byDeadline), this.#cause);
  }

  /** The creates without an answer, duplicates too. */
  #open(): Create<Caller>[] {
    const open: Create<Caller>[] = [];
    for (const create of this.#creates) {
      if (!create.isAnswered) open.push(create);
      for (const duplicate of create.duplicates ?? []) if (!duplicate.isAnswered) open.push(duplicate);
    }
    return open;
  }

  #startTimer(): void {
    const { clock } = this.#queue;
    let first = Number.POSITIVE_INFINITY;
    for (const { deadline } of this.#open()) first = Math.min(first, deadline!);
    this.#timer = clock.setTimer(() => this.#onTime(), Math.max(0, first - clock.now()));
  }

  /** Answers the creates whose time is over. Creates whose time ends soon go with them, so that most batches end whole. */
  #onTime(): void {
    const { clock, timeoutMs } = this.#queue;
    const call = this.#call;
    const open = this.#open();
    const soon = clock.now() + timeoutMs / 10;
    const due = open.filter(({ deadline }) => deadline! <= soon);
    const isOver = due.length === open.length;
    const inCall = new Set(call?.creates);
    // A call that others still wait for may yet send them all.
    const mayBeStored = call !== undefined && (call.sent || !isOver);
    const options = { cause: this.#cause };
    for (const create of due) {
      if (inCall.has(create) && mayBeStored) {
        create.fail(new Error(`the storage did not answer within ${timeoutMs} ms`, options));
      } else {
        create.fail(new StorageBusy('the storage is out of reach', options));
        if (!inCall.has(create)) this.#queue.leave(create);
      }
    }
    if (isOver) {
      if (call) giveUp(call);
      this.#finish(call?.sent ? 'unanswered' : 'unsent');
    } else this.#startTimer();
  }
}

function errorOf(outcome: unknown): unknown {
  if (typeof outcome === 'object' && outcome !== null) return outcome;
  return new TypeError("createMany must answer 'created', 'taken' or an Error for each plant");
}

function byDeadline<Caller>({ deadline: a }: Create<Caller>, { deadline: b }: Create<Caller>): number {
  return a! - b!;
}

function giveUp<Caller>(call: Call<Caller>): void {
  call.isGivenUp = true;
  try {
    call.onGiveUp?.();
  } catch {
    // Somebody's clean-up failed; the queue goes on.
  }
}

/** Waits before a retry: 5 ms, doubling to 500 ms, with jitter. */
function pause(clock: Clock, attempt: number): Promise<void> {
  const longest = Math.min(500, 5 * 2 ** attempt);
  return new Promise((resolve) => {
    clock.setTimer(resolve, longest * (0.5 + Math.random() / 2));
  });
}
