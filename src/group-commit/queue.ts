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
import { graceMs, lateMs, Standby } from './standby.js';
import { inTurnsOfSenders, removeFirst, Turns } from './turns.js';
import { type CreateOwner, firstCall, WaitingCreate } from './waiting-create.js';

/**
 * @internal Gathers creates into batches. Each batch is sent by its leader, one of its creates, in that create's own
 * call: so it runs in the AsyncLocalStorage, the trace and, on Workers, the request of a create that is in it. When a batch
 * has ended, the oldest create that waits becomes the next leader. Exported for tests, which pass a clock.
 */
export class Queue<Caller> implements BatchOwner<Caller>, CreateOwner<Caller> {
  readonly now: () => number;
  readonly #settings: Complete<GroupCommitOptions<Caller>>;
  readonly #turns: Turns<Caller>;
  readonly #room: Room<Caller>;
  readonly #circuit: Circuit;
  /** Sends the next batch, or has sent the one in flight. Meanwhile nobody else sends. */
  #leader: WaitingCreate<Caller> | undefined;
  readonly #standby: Standby<Caller>;
  /** The batch in flight, or on its way to a leader that is in it. */
  #batch: Batch<Caller> | undefined;
  /** Batches that timed out, whose calls may still hold their creates. */
  readonly #aborted: Batch<Caller>[] = [];
  /** When the last batch was taken from the queue, and when it ended: creates from before had to wait for it. */
  #sentAt = 0;
  #endedAt = 0;
  /** Nothing is sent before. */
  #restUntil = 0;
  /** For the next create that times out, or sooner. One for all: a timer for each batch costs as much as a create. */
  readonly #alarm: Alarm;
  readonly #pace: Pace;

  constructor(
    readonly createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
    readonly clock: Clock = systemClock,
  ) {
    this.#settings = checkOptions(options, groupCommitRules());
    this.#turns = new Turns(this.#settings.timeoutMs, this.#settings.maxBatch);
    this.#circuit = new Circuit(this.#settings.timeoutMs);
    this.#room = new Room(this.#settings.maxQueued, this.#settings.maxQueuedText);
    this.#alarm = new Alarm(clock, () => this.#onAlarm());
    this.#standby = new Standby(clock, (standby) => this.#takeOver(standby));
    this.#pace = new Pace(clock);
    this.now = clock.now;
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    try {
      const create = new WaitingCreate(plant, context, this.#settings.namespace(context), this);
      const isHeir = create.calledAt >= this.#standby.actsUntil;
      if (this.#leader && !isHeir && this.#circuit.isOpen) throw unavailable(this.#circuit.cause);
      // Even if the queue is full: it may be full of creates that wait for a leader that is gone.
      if (isHeir) this.#takeOver(create);
      while (this.#aborted[0] && this.#aborted[0].endedAt <= create.calledAt - this.#settings.timeoutMs)
        this.#aborted.shift()!.release();
      this.#room.reserve(create);
      this.#turns.good.push(create);
      const isLone = this.#pace.onCreate();
      if (!this.#leader) this.#wake(isLone);
      else this.#standby.onCreate(create);
      return Promise.resolve(create.outcome());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  onRelease(create: WaitingCreate<Caller>): void {
    this.#room.release(create);
  }

  /** Makes the oldest create the leader. It sends the next batch at the end of its turn, or before that if it `isLone`. */
  #wake(isLone = false): void {
    this.#alarm.clear();
    const now = this.now();
    const { oldest, suspects, suspectsAt } = this.#turns;
    const next = oldest ?? suspects.first;
    const dueAt = Math.max(this.#restUntil, oldest ? 0 : suspectsAt);
    // While only suspects wait, for a pause to end, a create that enters leads.
    const isBusy = dueAt <= now || this.#restUntil > now;
    this.#leader = isBusy ? next : undefined;
    this.#standby.onLeader(next, this.#turns);
    this.#standby.actsUntil = next ? Math.max(now, dueAt) + graceMs : Number.POSITIVE_INFINITY;
    next?.run(() => {
      if (dueAt <= now) this.#pace.schedule(() => this.#form(next), isLone);
      else if (!this.#batch) this.#watch(dueAt);
    });
  }

  /** Has the batch of the next turn sent by its leader, or if this is not in it, by another create. */
  #form(leader: WaitingCreate<Caller>): void {
    if (this.#batch) return;
    const tookMs = this.#endedAt - this.#sentAt;
    this.#sentAt = this.now();
    const creates = this.#turns.next(this.#sentAt, tookMs, this.#take);
    const [first] = creates;
    if (!first) return void this.#wake();
    const batch = new Batch(creates, this);
    this.#batch = batch;
    if (creates.includes(leader)) return void this.#send(batch);
    this.#leader = first;
    this.#standby.onLeader(first, this.#turns);
    first.run(() => this.#send(batch));
  }

  #send(batch: Batch<Caller>): void {
    if (this.#batch !== batch) return;
    batch.send();
    // A driver that blocks has ended it by now: no timer.
    if (this.#batch) this.#watch();
  }

  /** Makes `heir` the leader, unless the leader has acted by the end of this turn: its timer may only be late. */
  #takeOver(heir: WaitingCreate<Caller>): void {
    const until = this.now() + lateMs;
    this.#standby.actsUntil = until;
    this.clock.atEndOfTurn(() => {
      if (this.#standby.actsUntil !== until) return;
      // Only of a request that has ended: otherwise tasks run at once.
      if (this.#leader?.tasks?.length) this.#leader.expire();
      this.#turns.expire(this.now() - this.#circuit.attemptMs);
      this.#turns.prefer(heir);
      if (this.#batch) this.#batch.abandon();
      else this.#wake();
    });
  }

  /** Takes the next creates to send from a list. Those that disconnected or timed out are rejected instead. */
  readonly #take = (list: WaitingCreate<Caller>[]): readonly WaitingCreate<Caller>[] => {
    const { good, suspects } = this.#turns;
    const { maxBatch } = this.#settings;
    const isGood = list === good;
    const mayClaim = isGood && !suspects.isEmpty;
    // Not of suspects: a part of several clients is sent whole.
    const hasMore = isGood && (list.length > maxBatch || this.#room.text > maxBatchText);
    const waiting = hasMore ? inTurnsOfSenders(list, maxBatch) : list;
    const batch: WaitingCreate<Caller>[] = [];
    let count = 0;
    let text = 0;
    for (const create of waiting) {
      const isFull = batch.length > 0 && text + create.textLength > maxBatchText;
      if (isFull || batch.length === maxBatch) break;
      count++;
      // Asking may create an AbortController, a fifth of a request: so only creates that had to wait are asked.
      if (create.calledAt < this.#endedAt && !create.isSettled) create.failIfDisconnected();
      if (create.calledAt <= this.#sentAt - this.#circuit.attemptMs) create.expire();
      if (create.isSettled || (mayClaim && suspects.claim(create))) continue;
      batch.push(create);
      text += create.textLength;
    }
    removeFirst(list, waiting, count);
    return batch;
  };

  onEnd(batch: Batch<Caller>): void {
    const { end, open, cause } = batch;
    this.#batch = undefined;
    this.#endedAt = this.now();
    const tookMs = this.#endedAt - this.#sentAt;
    if (end === 'settled' || end === 'apart') this.#circuit.onAnswer(this.#endedAt);
    if (end === 'together') this.#retry(batch, tookMs);
    else if (end === 'apart') this.#turns.suspects.addRejected(open, tookMs);
    else this.#turns.suspects.add(open);
    if (end === 'unsent' || end === 'unanswered') {
      batch.endedAt = this.#endedAt;
      this.#aborted.push(batch);
      // A suspect may time out at a lock while the database is well: the next good batch will show.
      const isWell = this.#turns.isSuspects && this.#circuit.isWell(this.#endedAt);
      if (!isWell) this.#openCircuit(cause, end === 'unanswered');
    }
    batch.report(this.#settings.onBatch, tookMs, this.#room.count, this.#circuit.isOpen);
    this.#wake();
  }

  /** After a pause: the row of a lone plant may be locked, so others are sent meanwhile. Otherwise, nothing is. */
  #retry({ open, firsts }: Batch<Caller>, tookMs: number): void {
    const isLone = firsts.length === 1 && !this.#circuit.isOpen;
    if (isLone) return void this.#turns.suspects.addLone(open, this.#endedAt, tookMs);
    this.#restUntil = this.#endedAt + this.#circuit.pauseMs();
    this.#turns.putBack(open);
  }

  /** Fails everything queued, then all but one probe at a time. */
  #openCircuit(cause: unknown, isSlow: boolean): void {
    this.#circuit.open(cause, isSlow);
    this.#restUntil = 0;
    for (const create of this.#turns) create.refuse(unavailable(cause));
    this.#turns.clear();
  }

  /** Sets the alarm for `at`, or for the first create that times out, if that is sooner. */
  #watch(at = Number.POSITIVE_INFINITY): void {
    const since = Math.min(firstCall(this.#batch?.creates ?? []), this.#turns.firstCall);
    this.#alarm.set(Math.min(at, since + this.#circuit.attemptMs));
    this.#standby.actsUntil = this.#alarm.at + lateMs;
  }

  #onAlarm(): void {
    const { attemptMs } = this.#circuit;
    const batch = this.#batch;
    // Timers may fire up to 1 ms too early.
    const dueSince = this.now() - attemptMs + 1;
    // With those that time out soon, so that most batches end whole.
    const soon = dueSince + 0.1 * attemptMs;
    const lost = this.#turns.firstCall <= dueSince ? this.#turns.expire(soon) : undefined;
    // Rolled back again and again, while the database settled nothing.
    if (lost && !batch && !this.#circuit.isWell(this.now())) this.#openCircuit(lost.cause, false);
    if (firstCall(batch?.creates ?? []) <= dueSince) batch?.expire(soon, attemptMs);
    if (this.#batch) this.#watch();
    else if (!batch) this.#wake();
  }
}
