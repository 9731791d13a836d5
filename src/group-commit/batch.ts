import { isThenable } from '../http.js';
import { isNamed } from '../problems.js';
import type { Clock } from '../timers.js';
import { Attempt } from './attempt.js';
import { type CreateMany, type CreateOutcome, outOfReach, type RolledBack } from './create-many.js';
import { type Create, firstsOf } from './waiting-create.js';

/** What a batch needs of its queue. */
export interface BatchQueue<Caller> {
  readonly createMany: CreateMany<Caller>;
  readonly clock: Clock;
  /** Called once. What is `open` then was not sent and has to be, in another batch. */
  onEnd(batch: Batch<Caller>): void;
}

/** Creates that are sent, and sent again, in halves if need be, until each is answered or the time of all is over. */
export class Batch<Caller> {
  /**
   * How it ended: the database `answered`; it did not, and the creates `failed`; or the time of all was over, and the
   * last call was `unsent` or `unanswered`.
   */
  end: 'answered' | 'failed' | 'unsent' | 'unanswered' = 'failed';
  /** The database's last error. */
  cause: unknown;
  /** The creates to send: the others are their duplicates. */
  readonly #firsts: readonly Create<Caller>[];
  /** The call that is not answered yet; none while the batch waits to be sent again. */
  #call: Attempt | undefined;
  #hasEnded = false;
  #timer: unknown;

  /**
   * @param creates in the order of their calls
   * @param timeMs how long each may take, from its call to its answer
   */
  constructor(
    readonly creates: readonly Create<Caller>[],
    readonly timeMs: number,
    readonly queue: BatchQueue<Caller>,
  ) {
    this.#firsts = firstsOf(creates);
  }

  /** The creates without an answer. */
  get open(): readonly Create<Caller>[] {
    return this.creates.filter(({ isAnswered }) => !isAnswered);
  }

  send(): void {
    this.#send(this.#firsts);
    // A blocking driver has answered by now: no timer.
    if (!this.#hasEnded) this.#startTimer();
  }

  /** Sends creates until each is answered. Never rejects. */
  async #send(creates: readonly Create<Caller>[], attempt = 0): Promise<void> {
    if (creates.length === 0) return this.#endIfDone();
    let resend: RolledBack['resend'] | undefined;
    try {
      this.#call = new Attempt();
      for (const create of creates) create.isInCall = true;
      const plants = creates.map(({ plant }) => plant);
      const contexts = creates.map(({ context }) => context);
      const calling = this.queue.createMany(plants, contexts, this.#call);
      const outcomes = isThenable(calling) ? await calling : calling;
      if (outcomes.length !== creates.length) {
        throw new TypeError('createMany must answer one outcome per plant');
      }
      this.#onAnswer(creates, outcomes);
    } catch (error) {
      resend = this.#onError(creates, error);
    }
    this.#call = undefined;
    for (const create of creates) create.leaveCall();
    if (resend === 'together') {
      // 5 ms, doubling to 500 ms, with jitter.
      const pauseMs = Math.min(500, 5 * 2 ** attempt) * (0.5 + Math.random() / 2);
      await new Promise<void>((resolve) => this.queue.clock.setTimer(resolve, pauseMs));
      await this.#send(stillOpen(creates), attempt + 1);
    } else if (resend === 'apart') {
      const half = creates.length >> 1;
      await this.#send(stillOpen(creates.slice(0, half)));
      await this.#send(stillOpen(creates.slice(half)));
    }
    this.#endIfDone();
  }

  #onAnswer(creates: readonly Create<Caller>[], outcomes: readonly CreateOutcome[]): void {
    this.end = 'answered';
    creates.forEach((create, i) => {
      const outcome = outcomes[i];
      if (outcome === 'created' || outcome === 'taken') create.done(outcome);
      else create.fail(outcome && typeof outcome === 'object' ? outcome : new TypeError(wrongOutcome));
    });
  }

  /** Says how to send the creates again, or answers them with the error. */
  #onError(creates: readonly Create<Caller>[], error: unknown): RolledBack['resend'] | undefined {
    const rolledBack = isNamed<RolledBack>(error, 'RolledBack') ? error : undefined;
    this.cause = rolledBack ? rolledBack.cause : error;
    if (rolledBack?.resend === 'together') return 'together';
    if (rolledBack) this.end = 'answered';
    if (rolledBack && creates.length > 1) return 'apart';
    for (const create of creates) create.fail(this.cause);
    return undefined;
  }

  #endIfDone(): void {
    if (this.#hasEnded || this.#call || this.#firsts.some(({ isAnswered }) => !isAnswered)) return;
    this.#hasEnded = true;
    this.queue.clock.clearTimer(this.#timer);
    this.queue.onEnd(this);
  }

  #startTimer(): void {
    const { clock } = this.queue;
    const deadline = this.open[0]!.calledAt + this.timeMs;
    this.#timer = clock.setTimer(() => this.#onTime(), Math.max(0, deadline - clock.now()));
  }

  /** Answers the creates whose time is over. Creates whose time ends soon go with them, so that most batches end whole. */
  #onTime(): void {
    const { open } = this;
    const dueSince = this.queue.clock.now() - 0.9 * this.timeMs;
    const due = open.filter(({ calledAt }) => calledAt <= dueSince);
    const isOver = due.length === open.length;
    // A call that others still wait for may yet send them all.
    const mayBeStored = this.#call?.sent || !isOver;
    const { cause } = this;
    const unanswered = new Error(`the storage did not answer within ${this.timeMs} ms`, { cause });
    const unsent = outOfReach(cause);
    for (const create of due) create.fail(create.isInCall && mayBeStored ? unanswered : unsent);
    if (isOver) this.#giveUp();
    else this.#startTimer();
  }

  #giveUp(): void {
    this.end = this.#call?.sent ? 'unanswered' : 'unsent';
    this.#call?.abort();
    this.#call = undefined;
    this.#endIfDone();
  }
}

/** The creates that still wait for an answer. Those whose client has gone are answered. */
function stillOpen<Caller>(creates: readonly Create<Caller>[]): readonly Create<Caller>[] {
  for (const create of creates) create.failIfGone();
  return creates.filter(({ isAnswered }) => !isAnswered);
}

const wrongOutcome = "createMany must answer 'created', 'taken' or an Error for each plant";
