import { isThenable } from '../http.js';
import { isNamed } from '../problems.js';
import { ignoringErrors } from '../request/report.js';
import { Attempt } from './attempt.js';
import { type CreateMany, type CreateOutcome, type RolledBack, unavailable } from './create-many.js';
import { type BatchReport, noReport, type OnBatch } from './options.js';
import { dedupe, isOpen, type WaitingCreate } from './waiting-create.js';

/** What a batch needs from its queue. */
export interface BatchOwner<Caller> {
  readonly createMany: CreateMany<Caller>;
  /** Called once. Creates still `open` belong in another batch. */
  onEnd(batch: Batch<Caller>): void;
}

/** Creates that are sent in one call of `createMany`. */
export class Batch<Caller> {
  end: BatchReport['end'] = 'failed';
  /** The database's last error. */
  cause: unknown;
  declare endedAt: number;
  /** The creates to send, sorted: the others are their duplicates. */
  readonly firsts: readonly WaitingCreate<Caller>[];
  readonly #call = new Attempt();
  readonly #owner: BatchOwner<Caller>;
  #hasEnded = false;

  constructor(
    readonly creates: readonly WaitingCreate<Caller>[],
    owner: BatchOwner<Caller>,
  ) {
    this.#owner = owner;
    this.firsts = dedupe(creates);
    this.cause = creates[0]?.cause;
  }

  /** The creates that are not settled. */
  get open(): readonly WaitingCreate<Caller>[] {
    return this.creates.filter(isOpen);
  }

  /** Never rejects. A `createMany` that blocks has ended the batch when this returns. */
  async send(): Promise<void> {
    for (const create of this.firsts) create.isInCall = true;
    // Copies: `createMany` may change whatever it gets.
    const plants = this.firsts.map(({ plant }) => ({ ...plant }));
    const contexts = this.firsts.map(({ context }) => context);
    try {
      const calling = this.#owner.createMany(plants, contexts, this.#call);
      this.#onOutcomes(isThenable(calling) ? await calling : calling);
    } catch (error) {
      this.#onError(error);
    }
    this.release();
    this.#finish();
  }

  /** Called when the call has settled; or long after it was aborted: on Workers, it ends with its request. */
  release(): void {
    for (const create of this.firsts) create.leaveCall();
  }

  #onOutcomes(outcomes: readonly CreateOutcome[]): void {
    if (outcomes.length !== this.firsts.length) throw new TypeError(wrongCount);
    this.end = 'settled';
    this.firsts.forEach((create, i) => {
      const outcome = outcomes[i];
      if (outcome === 'created' || outcome === 'taken') create.settle(outcome);
      else failWith(create, outcome && typeof outcome === 'object' ? outcome : new TypeError(wrongOutcome));
    });
  }

  #onError(error: unknown): void {
    if (!isNamed<RolledBack>(error, 'RolledBack')) {
      this.cause = error;
      for (const create of this.firsts) failWith(create, error);
      return;
    }
    this.cause = error.cause;
    for (const create of this.creates) create.cause = error.cause;
    this.end = error.resend === 'together' ? 'together' : 'apart';
    if (this.end === 'apart' && this.firsts.length === 1) {
      this.end = 'settled';
      this.firsts[0]!.fail(error);
    }
  }

  /** Rejects the creates that were called until `dueSince`. Aborts the call unless others wait for it. */
  expire(dueSince: number, timeMs: number): void {
    const { open, cause } = this;
    const due = open.filter(({ calledAt }) => calledAt <= dueSince);
    const isOver = due.length === open.length;
    const { sent } = this.#call;
    const unanswered = new Error(`the storage did not answer within ${timeMs} ms`, { cause });
    for (const create of due) {
      // While other creates keep the call alive, it may still send these too.
      if (sent || !isOver) create.fail(unanswered);
      else create.refuse(unavailable(cause));
    }
    if (!isOver) return;
    this.end = sent ? 'unanswered' : 'unsent';
    this.#call.abort();
    this.#finish();
  }

  /** Ends it because its leader's request has ended, and with it the call, if there was one: then no outcome is known. */
  abandon(): void {
    const gone = new Error('the request that sent the batch has ended before the storage answered');
    for (const create of this.firsts) {
      if (!create.isInCall) continue;
      failWith(create, gone);
      create.duplicates = undefined;
      create.leaveCall();
    }
    this.#call.abort();
    this.#finish();
  }

  report(onBatch: OnBatch, ms: number, queued: number, isOpen: boolean): void {
    if (onBatch === noReport) return;
    const report = { plants: this.firsts.length, ms, end: this.end, queued, isOpen };
    ignoringErrors(() => onBatch(report));
  }

  #finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#owner.onEnd(this);
  }
}

/** Rejects a create with what its outcome is. Unless that says that nothing was stored, its duplicates remember it. */
function failWith(create: WaitingCreate<unknown>, error: unknown): void {
  create.fail(error);
  if (['PlantRefused', 'RolledBack', 'StorageBusy'].some((name) => isNamed(error, name))) return;
  for (const duplicate of create.duplicates ?? []) duplicate.unknown ??= error;
}

const wrongCount = 'createMany must return one outcome per plant';
const wrongOutcome = "createMany must return 'created', 'taken' or an Error for each plant";
