import { type Complete, checkOptions } from '../options.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';
import { type Clock, systemClock } from '../timers.js';
import { Alarm } from './alarm.js';
import { Batch, type BatchOwner } from './batch.js';
import { Circuit } from './circuit.js';
import { type CreateMany, unavailable } from './create-many.js';
import { type GroupCommitOptions, groupCommitRules, maxBatchText } from './options.js';
import { Pace } from './pace.js';
import { Room } from './room.js';
import { Suspects } from './suspects.js';
import { type CreateOwner, firstCall, WaitingCreate } from './waiting-create.js';

/** @internal Gathers creates into batches. Exported for tests, which pass a clock. */
export class Queue<Caller> implements BatchOwner<Caller>, CreateOwner<Caller> {
  readonly now: () => number;
  readonly #settings: Complete<GroupCommitOptions<Caller>>;
  /** In the order of their calls. */
  readonly #waiting: WaitingCreate<Caller>[] = [];
  readonly #suspects: Suspects<Caller>;
  readonly #room: Room;
  readonly #circuit: Circuit;
  /** The batch in flight, and whether there is one, or will be at the end of this turn. */
  #batch: Batch<Caller> | undefined;
  #isRunning = false;
  /** Whether the last batch was one of suspects. */
  #isSuspects = false;
  /** When the last batch was taken from the queue, and when it ended: creates from before had to wait for it. */
  #sentAt = 0;
  #endedAt = 0;
  /** Nothing is sent before the first, and no suspect before the second. */
  #restUntil = 0;
  #suspectsRestUntil = 0;
  /** For the next create that times out, or sooner. One for all: a timer for each batch costs as much as a create. */
  readonly #alarm: Alarm;
  readonly #pace: Pace;

  constructor(
    readonly createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
    readonly clock: Clock = systemClock,
  ) {
    this.#settings = checkOptions(options, groupCommitRules());
    this.#suspects = new Suspects(this.#settings.timeoutMs);
    this.#circuit = new Circuit(this.#settings.timeoutMs);
    this.#room = new Room(this.#settings.maxQueued, this.#settings.maxQueuedText);
    this.#alarm = new Alarm(clock, () => this.#onAlarm());
    this.#pace = new Pace(clock);
    this.now = clock.now;
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    try {
      const create = new WaitingCreate(plant, context, this.#settings.namespace(context), this);
      const isWaiting = this.#isRunning || this.#waiting.length > 0;
      if (isWaiting && this.#circuit.isOpen) throw unavailable(this.#circuit.cause);
      this.#room.reserve(create.textLength);
      this.#waiting.push(create);
      const isLone = this.#pace.onCreate();
      if (!this.#isRunning) this.#wake(isLone);
      return create.promise;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  onRelease(create: WaitingCreate<Caller>): void {
    this.#room.release(create.textLength);
  }

  /** Sends the next batch when it is due: at the end of this turn, or before that if its create `isLone`. */
  #wake(isLone = false): void {
    const suspectsAt = () => Math.max(this.#suspectsRestUntil, this.#suspects.readyAt);
    const dueAt = Math.max(this.#restUntil, this.#waiting.length > 0 ? 0 : suspectsAt());
    this.#isRunning = dueAt <= 0 || dueAt <= this.now();
    if (this.#isRunning) this.#pace.schedule(() => this.#sendNext(), isLone);
    else if (dueAt < Number.POSITIVE_INFINITY) this.#watch(dueAt);
    else this.#alarm.set(dueAt);
  }

  #sendNext(): void {
    const creates = this.#nextTurn();
    if (creates.length === 0) return void this.#wake();
    this.#batch = new Batch(creates, this);
    this.#batch.send();
    // A driver that blocks has ended it by now: no timer.
    if (this.#batch) this.#watch();
  }

  /** Good batches and suspects take turns. If both wait they get equal time, because a suspect may wait for a lock. */
  #nextTurn(): readonly WaitingCreate<Caller>[] {
    const now = this.now();
    const tookMs = this.#endedAt - this.#sentAt;
    this.#sentAt = now;
    if (!this.#isSuspects && this.#suspects.isEmpty) return this.#take(this.#waiting);
    const wereSuspects = this.#isSuspects;
    const good = () => this.#take(this.#waiting);
    const suspects = () => (now < this.#suspectsRestUntil ? [] : this.#suspects.next(now, this.#take));
    const others = wereSuspects ? good() : suspects();
    const isOthersTurn = others.length > 0;
    if (wereSuspects && isOthersTurn) this.#suspectsRestUntil = now + tookMs;
    const creates = isOthersTurn ? others : wereSuspects ? suspects() : good();
    this.#isSuspects = wereSuspects !== isOthersTurn && creates.length > 0;
    return creates;
  }

  /** Takes the next creates to send from the start of a list. Those that disconnected or timed out are rejected instead. */
  readonly #take = (list: WaitingCreate<Caller>[]): readonly WaitingCreate<Caller>[] => {
    const mayClaim = list === this.#waiting && !this.#suspects.isEmpty;
    const batch: WaitingCreate<Caller>[] = [];
    let count = 0;
    let text = 0;
    for (const create of list) {
      const isFull = batch.length > 0 && text + create.textLength > maxBatchText;
      if (isFull || batch.length === this.#settings.maxBatch) break;
      count++;
      // Asking may create an AbortController, a fifth of a request: so only creates that had to wait are asked.
      if (create.calledAt < this.#endedAt && !create.isSettled) create.failIfDisconnected();
      if (create.calledAt <= this.#sentAt - this.#circuit.attemptMs) create.expire();
      if (create.isSettled || (mayClaim && this.#suspects.claim(create))) continue;
      batch.push(create);
      text += create.textLength;
    }
    list.splice(0, count);
    return batch;
  };

  onEnd(batch: Batch<Caller>): void {
    const { end, open, cause } = batch;
    this.#batch = undefined;
    this.#endedAt = this.now();
    const tookMs = this.#endedAt - this.#sentAt;
    if (end === 'settled' || end === 'apart') this.#circuit.onAnswer(this.#endedAt);
    if (end === 'together') this.#retry(batch, tookMs);
    else if (end === 'apart') this.#suspects.addRejected(open, tookMs);
    else this.#suspects.add(open);
    if (end === 'unsent' || end === 'unanswered') {
      // A suspect may time out at a lock while the database is well: the next good batch will show.
      const isWell = this.#isSuspects && this.#circuit.isWell(this.#endedAt);
      if (!isWell) this.#openCircuit(cause, end === 'unanswered');
    }
    this.#wake();
  }

  /** After a pause: the row of a lone plant may be locked, so others are sent meanwhile. Otherwise, nothing is. */
  #retry({ open, firsts }: Batch<Caller>, tookMs: number): void {
    const isLone = firsts.length === 1 && !this.#circuit.isOpen;
    if (isLone) return void this.#suspects.addLone(open, this.#endedAt, tookMs);
    this.#restUntil = this.#endedAt + this.#circuit.pauseMs();
    if (this.#isSuspects) this.#suspects.add(open);
    else this.#waiting.unshift(...open);
  }

  /** Fails everything queued, then all but one probe at a time. */
  #openCircuit(cause: unknown, isSlow: boolean): void {
    this.#circuit.open(cause, isSlow);
    this.#restUntil = 0;
    this.#alarm.set(Number.POSITIVE_INFINITY);
    for (const create of this.#queued) create.refuse(unavailable(cause));
    this.#waiting.length = 0;
    this.#suspects.clear();
  }

  /** Sets the alarm for `at`, or for the first create that times out, if that is sooner. */
  #watch(at = Number.POSITIVE_INFINITY): void {
    // An alarm that is set is not too late for any create: later ones time out later.
    if (this.#alarm.at < Number.POSITIVE_INFINITY) return void this.#alarm.set(Math.min(at, this.#alarm.at));
    const since = Math.min(firstCall(this.#batch?.creates ?? []), firstCall(this.#queued));
    this.#alarm.set(Math.min(at, since + this.#circuit.attemptMs));
  }

  #onAlarm(): void {
    const { attemptMs } = this.#circuit;
    // Timers may fire up to 1 ms too early.
    const dueSince = this.now() - attemptMs + 1;
    // With those that time out soon, so that most batches end whole.
    const soon = dueSince + 0.1 * attemptMs;
    if (firstCall(this.#queued) <= dueSince) this.#expire(soon);
    if (firstCall(this.#batch?.creates ?? []) <= dueSince) this.#batch?.expire(soon, attemptMs);
    if (this.#batch) this.#watch();
    else if (!this.#isRunning) this.#wake();
  }

  /** Rejects the queued creates that were called until `dueSince`. */
  #expire(dueSince: number): void {
    let lost: WaitingCreate<Caller> | undefined;
    for (const create of this.#queued) {
      if (create.isSettled || create.calledAt > dueSince) continue;
      if (create.cause !== undefined && !this.#circuit.isWell(this.now())) lost = create;
      create.expire();
    }
    // Rolled back again and again, while the database settled nothing.
    if (lost && !this.#isRunning) this.#openCircuit(lost.cause, false);
  }

  get #queued(): readonly WaitingCreate<Caller>[] {
    return this.#suspects.isEmpty ? this.#waiting : [...this.#waiting, ...this.#suspects];
  }
}
