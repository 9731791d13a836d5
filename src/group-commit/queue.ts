import { type Complete, checkOptions } from '../options.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';
import { type Clock, systemClock } from '../timers.js';
import { Batch, type BatchQueue, maxBatchText, slowRejectionMs } from './batch.js';
import { Circuit } from './circuit.js';
import { type CreateMany, unavailable } from './create-many.js';
import { type GroupCommitOptions, groupCommitRules } from './options.js';
import { Room } from './room.js';
import { Suspects } from './suspects.js';
import { type CreateOwner, firstCall, WaitingCreate } from './waiting-create.js';

/** @internal Gathers creates into batches. Exported for tests, which pass a clock. */
export class Queue<Caller> implements BatchQueue<Caller>, CreateOwner<Caller> {
  readonly now: () => number;
  readonly #settings: Complete<GroupCommitOptions<Caller>>;
  /** In the order of their calls. */
  readonly #waiting: WaitingCreate<Caller>[] = [];
  readonly #suspects: Suspects<Caller>;
  readonly #room: Room;
  /** Whether a batch is in flight, or will be at the end of this turn. */
  #isRunning = false;
  /** When the last batch ended: creates from before had to wait for it. */
  #idleSince = 0;
  /** When the database last settled or rejected a batch. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  readonly #circuit: Circuit;
  /** Whether the last batch was one of suspects. */
  #isSuspects = false;
  /** When the last batch was taken from the queue. */
  #sentAt = 0;
  /** How long the last batch took, in milliseconds. */
  #lastMs = 0;
  #suspectsRestUntil = 0;
  #wakeTimer: unknown;
  /** For the oldest create in the queue, called `since`. */
  #expiry: { readonly timer: unknown; readonly since: number } | undefined;

  constructor(
    readonly createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
    readonly clock: Clock = systemClock,
  ) {
    this.#settings = checkOptions(options, groupCommitRules());
    this.#suspects = new Suspects(this.#settings.timeoutMs);
    this.#circuit = new Circuit(this.#settings.timeoutMs);
    this.#room = new Room(this.#settings.maxQueued, this.#settings.maxQueuedText);
    this.now = clock.now;
  }

  get isProbing(): boolean {
    return this.#circuit.isOpen;
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    try {
      const create = new WaitingCreate(plant, context, this.#settings.namespace(context), this);
      if (this.#circuit.isOpen && this.#isRunning) throw unavailable(this.#circuit.cause);
      this.#room.reserve(create.textLength);
      this.#waiting.push(create);
      this.#wake();
      return create.promise;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  onRelease(create: WaitingCreate<Caller>): void {
    this.#room.release(create.textLength);
  }

  #wake(): void {
    if (this.#isRunning || (this.#waiting.length === 0 && this.#suspects.isEmpty)) return;
    this.#isRunning = true;
    this.clock.atEndOfTurn(() => this.#sendNext());
  }

  #sendNext(): void {
    const creates = this.#nextTurn();
    if (this.#isSuspects || !this.#suspects.isEmpty) this.#watch();
    if (creates.length > 0) new Batch(creates, this.#circuit.attemptMs, this).send();
    else this.#pause();
  }

  #pause(): void {
    this.#isRunning = false;
    if (this.#suspects.isEmpty) return;
    const pauseMs = this.#pauseUntil - this.now();
    this.clock.clearTimer(this.#wakeTimer);
    // Not less: a rounding error would be a timer that fires too early, again and again.
    this.#wakeTimer = this.clock.setTimer(() => this.#wake(), Math.max(1, pauseMs));
  }

  /** When the suspects can be sent. */
  get #pauseUntil(): number {
    return Math.max(this.#suspectsRestUntil, this.#suspects.readyAt);
  }

  /** Good batches and suspects take turns. If both wait they get equal time, because a suspect may wait for a lock. */
  #nextTurn(): readonly WaitingCreate<Caller>[] {
    if (!this.#isSuspects && this.#suspects.isEmpty) return this.#take(this.#waiting);
    const now = this.now();
    const good = () => this.#take(this.#waiting);
    const suspects = () => (now < this.#suspectsRestUntil ? [] : this.#suspects.next(now, this.#take));
    const wereSuspects = this.#isSuspects;
    const others = wereSuspects ? good() : suspects();
    const isOthersTurn = others.length > 0;
    if (wereSuspects && isOthersTurn) this.#suspectsRestUntil = now + this.#lastMs;
    const creates = isOthersTurn ? others : wereSuspects ? suspects() : good();
    this.#isSuspects = wereSuspects !== isOthersTurn && creates.length > 0;
    return creates;
  }

  /** Takes the next creates to send from the start of a list. Those that disconnected or timed out are rejected instead. */
  readonly #take = (list: WaitingCreate<Caller>[]): readonly WaitingCreate<Caller>[] => {
    this.#sentAt = this.now();
    const dueSince = this.#sentAt - this.#circuit.attemptMs;
    const mayClaim = list === this.#waiting && !this.#suspects.isEmpty;
    const batch: WaitingCreate<Caller>[] = [];
    let count = 0;
    let text = 0;
    for (const create of list) {
      const isFull = batch.length > 0 && text + create.textLength > maxBatchText;
      if (isFull || batch.length === this.#settings.maxBatch) break;
      count++;
      // Asking may create an AbortController, a fifth of a request: so only creates that had to wait are asked.
      if (create.calledAt < this.#idleSince && !create.isSettled) create.failIfDisconnected();
      if (create.calledAt <= dueSince) create.expire();
      if (create.isSettled || (mayClaim && this.#suspects.claim(create))) continue;
      batch.push(create);
      text += create.textLength;
    }
    list.splice(0, count);
    return batch;
  };

  onEnd(batch: Batch<Caller>): void {
    const { end, open, cause } = batch;
    this.#isRunning = false;
    this.#idleSince = this.now();
    this.#lastMs = this.#idleSince - this.#sentAt;
    if (end === 'settled' || end === 'apart') {
      this.#circuit.close();
      this.#answeredAt = this.#idleSince;
    }
    if (end === 'later') this.#suspects.addRetry(open, this.#idleSince, this.#lastMs);
    else if (end !== 'apart') this.#suspects.add(open, 1);
    else this.#suspects.add(open, this.#lastMs < slowRejectionMs ? 2 : 16);
    if (end === 'unsent' || end === 'unanswered') {
      // A suspect may time out at a lock while the database is well: the next good batch will show.
      const isWell = this.#isSuspects && this.#answeredAt >= this.#idleSince - this.#settings.timeoutMs;
      if (!isWell) this.#openCircuit(cause, end === 'unanswered');
    }
    if (this.#isSuspects || !this.#suspects.isEmpty || this.#expiry) this.#watch(open);
    const isNext = !this.#isSuspects && !this.#suspects.isEmpty && this.#pauseUntil <= this.#idleSince;
    if (isNext) {
      // Suspects need no end of turn: no create of this turn could join them.
      this.#isRunning = true;
      this.#sendNext();
    } else this.#wake();
  }

  /** Fails everything queued, then all but one probe at a time. */
  #openCircuit(cause: unknown, isSlow: boolean): void {
    this.#circuit.open(cause, isSlow);
    for (const create of [...this.#waiting.splice(0), ...this.#suspects]) create.refuse(unavailable(cause));
    this.#suspects.clear();
  }

  /** While there are suspects, creates are not sent in the order of their calls: those in the queue need a timer too. */
  #watch(back: readonly WaitingCreate<Caller>[] = []): void {
    const isNeeded = !this.#suspects.isEmpty || (this.#isSuspects && this.#isRunning);
    if (!isNeeded) this.clock.clearTimer(this.#wakeTimer);
    // Creates that come back from a batch may be older than all in the queue.
    if (this.#expiry && (!isNeeded || firstCall(back) < this.#expiry.since)) {
      this.clock.clearTimer(this.#expiry.timer);
      this.#expiry = undefined;
    }
    if (!isNeeded || this.#expiry) return;
    const since = Math.min(firstCall(this.#waiting), firstCall(this.#suspects));
    if (since === Number.POSITIVE_INFINITY) return;
    const leftMs = since + this.#settings.timeoutMs - this.now();
    const timer = this.clock.setTimer(() => this.#expire(), Math.max(0, leftMs));
    this.#expiry = { timer, since };
  }

  /** Rejects the queued creates that timed out, together with those that time out soon. */
  #expire(): void {
    this.#expiry = undefined;
    const dueSince = this.now() - 0.9 * this.#settings.timeoutMs;
    let lost: WaitingCreate<Caller> | undefined;
    for (const create of [...this.#waiting, ...this.#suspects]) {
      if (create.isSettled || create.calledAt > dueSince) continue;
      if (create.retries && this.#answeredAt < create.calledAt) lost = create;
      create.expire();
    }
    if (lost && !this.#isRunning) this.#openCircuit(lost.cause, false);
    this.#watch();
  }
}
