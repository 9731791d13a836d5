import { ignoringErrors, type MaybePromise } from '../http.js';
import { type Complete, checkOptions } from '../options.js';
import type { NewPlant } from '../plant/plant.js';
import { StorageBusy, type StorageContext } from '../storage.js';
import { systemClock } from '../timers.js';
import { Batch } from './batch.js';
import { Call } from './call.js';
import { Circuit } from './circuit.js';
import type { CreateMany } from './create-many.js';
import { type BatchReport, type GroupCommitOptions, groupCommitRules } from './options.js';
import { Turn } from './turn.js';
import { unavailable, WaitingCreate } from './waiting-create.js';

/** The creates that are pending, and the batches that they gather in. */
export class Queue<Caller> {
  readonly settings: Complete<GroupCommitOptions<Caller>>;
  readonly turn = new Turn();
  readonly circuit: Circuit;
  readonly lockedRows = new Set<WaitingCreate<Caller>[]>();
  /** In the order of their calls. Not a Set: its outgrown tables keep young creates alive, and tripled the time of GC. */
  #pending: WaitingCreate<Caller>[] = [];
  #text = 0;
  /** The batch that creates join. */
  #gathering: Batch<Caller> | undefined;
  #inFlight: Call<Caller> | undefined;
  /** Calls that were aborted, but whose `createMany` has not settled. */
  readonly #aborted = new Set<Call<Caller>>();
  /** One timer for all creates, set while one waits for a call: a timer for each would cost a tenth of a create. */
  #alarm: unknown;

  constructor(
    readonly createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
  ) {
    this.settings = checkOptions(options, groupCommitRules());
    this.circuit = new Circuit(this.settings.timeoutMs);
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    return new Promise((resolve, reject) => {
      const create = new WaitingCreate(plant, context, resolve, reject);
      create.namespace = this.settings.namespace(context);
      create.expiresAt = systemClock.now() + this.circuit.limitMs;
      if (this.circuit.isOpen && this.turn.isTaken) throw unavailable(this.circuit.cause);
      this.#reserve(create);
      if (this.#gathering?.join(create)) return;
      this.#gathering = new Batch(this);
      this.#gathering.join(create);
      this.#gathering.lead();
    });
  }

  send(creates: WaitingCreate<Caller>[], rolledBack?: Call<Caller>): MaybePromise<Call<Caller> | undefined> {
    const now = systemClock.now();
    // The retry may wait for the lock as long. A create that timed out meanwhile would have an unknown outcome.
    const tookMs = rolledBack ? rolledBack.endedAt - rolledBack.sentAt : 0;
    for (const create of creates) if (create.expiresAt - 1.5 * tookMs <= now) this.#expire(create);
    const rows = rolledBack || this.lockedRows.size === 0 ? [] : [...this.lockedRows];
    const joins = (one: WaitingCreate<Caller>) => rows.some((row) => row[0]?.hasIdOf(one) && row.push(one));
    const toSend = creates.filter((create) => !create.isSettled && !joins(create));
    if (toSend.length === 0) return void this.#release();
    this.#inFlight = new Call(toSend, now, (ended, end) => this.#onEnd(ended, end));
    const call = this.#inFlight;
    const sending = call.send(this.createMany);
    if (!sending) return call;
    this.turn.onCall(call);
    this.#watch();
    return sending;
  }

  #onEnd(call: Call<Caller>, end: BatchReport['end']): void {
    if (this.#inFlight !== call) return void this.#aborted.delete(call);
    const now = systemClock.now();
    call.endedAt = now;
    this.#inFlight = undefined;
    this.#release();
    if (end === 'settled') this.circuit.onAnswer(now);
    if (end === 'unsent' || end === 'unanswered') {
      this.#aborted.add(call);
      this.#suspectOutage(call.cause, end === 'unanswered');
    }
    const [ms, queued, { isOpen }] = [now - call.sentAt, this.#pending.length, this.circuit];
    ignoringErrors(() => this.settings.onBatch({ plants: call.firsts.length, ms, end, queued, isOpen }));
  }

  /** @throws {StorageBusy} if the queue is full */
  #reserve(create: WaitingCreate<Caller>): void {
    const { maxQueued, maxQueuedText, timeoutMs } = this.settings;
    let count = this.#pending.length;
    let text = this.#text;
    for (const call of this.#aborted) {
      // A `createMany` that never settles must not count for ever.
      if (call.endedAt + timeoutMs <= systemClock.now() && this.#aborted.delete(call)) continue;
      count += call.creates.length;
      for (const { textLength } of call.creates) text += textLength;
    }
    // A single create may be larger than the bound.
    if (count > 0 && (count >= maxQueued || text + create.textLength > maxQueuedText))
      throw new StorageBusy();
    this.#pending.push(create);
    this.#text += create.textLength;
  }

  /** Frees the places of creates that are settled. */
  #release(): void {
    this.#pending = this.#pending.filter(({ isSettled }) => !isSettled);
    this.#text = this.#pending.reduce((sum, { textLength }) => sum + textLength, 0);
    if (this.#pending.length > 0) this.#watch();
    else this.#alarm = void systemClock.clearTimer(this.#alarm);
  }

  /** Sets the alarm for the first create that times out. */
  #watch(): void {
    const [first] = this.#pending;
    if (!first || this.#alarm !== undefined) return;
    const ms = Math.max(0, first.expiresAt - systemClock.now());
    this.#alarm = systemClock.setTimer(() => this.#onAlarm(), ms);
  }

  #onAlarm(): void {
    this.#alarm = undefined;
    // Timers may fire up to 1 ms too early.
    const now = systemClock.now() + 1;
    for (const create of this.#pending) {
      if (create.expiresAt > now) break;
      // A call is given up with the first of its creates that times out.
      if (this.#inFlight?.creates.includes(create)) this.#inFlight.abort(this.circuit.limitMs);
      else this.#expire(create);
    }
    this.#release();
  }

  /** Rejects a create that has timed out in the queue. */
  #expire(create: WaitingCreate<Caller>): void {
    if (create.isSettled) return;
    create.refuse(create.cause);
    if (create.cause !== undefined && !this.#inFlight) this.#suspectOutage(create.cause, false);
  }

  /** Opens the circuit, unless the database answers others: a create may have timed out at a locked row, or in a long queue. */
  #suspectOutage(cause: unknown, isSlow: boolean): void {
    if (!this.circuit.open(cause, isSlow, systemClock.now())) return;
    this.#gathering = undefined;
    this.lockedRows.clear();
    for (const create of this.#pending) create.refuse(cause);
    this.#release();
  }
}
