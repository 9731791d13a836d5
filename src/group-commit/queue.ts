import { type Complete, checkOptions } from '../checks/rules.js';
import { ignoringErrors } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';
import { systemClock } from '../timers.js';
import { Batch, Pace } from './batch.js';
import { Call } from './call.js';
import { Circuit } from './circuit.js';
import type { CreateMany } from './create-many.js';
import { circuitOpen, lockedBy, queueFull } from './errors.js';
import { Health } from './health.js';
import { Leader, LockedRows, type Sender } from './leader.js';
import {
  type BatchReport,
  type GroupCommitOptions,
  type GroupCommitState,
  groupCommitRules,
} from './options.js';
import { Pending } from './pending.js';
import { Turn } from './turn.js';
import { WaitingCreate } from './waiting-create.js';

/** Takes creates in, sends what its leaders send, and ends what times out. */
export class Queue<Caller> implements Sender<Caller> {
  readonly settings: Complete<GroupCommitOptions<Caller>>;
  readonly turn = new Turn();
  readonly circuit: Circuit;
  readonly pace: Pace;
  readonly health: Health;
  readonly lockedRows = new LockedRows<Caller>();
  readonly #pending: Pending<Caller>;
  readonly #leader = new Leader<Caller>(this);
  /** The batch that creates join. */
  #gathering: Batch<Caller> | undefined;
  #inFlight: Call<Caller> | undefined;
  /** One timer for all creates, set from the first call on: a timer for each would cost a tenth of a create. */
  #alarm: unknown;

  constructor(
    readonly createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
  ) {
    this.settings = checkOptions(options, groupCommitRules());
    this.circuit = new Circuit(this.settings.timeoutMs);
    this.pace = new Pace(this.settings.timeoutMs);
    this.health = new Health(this.settings.onStatus);
    this.#pending = new Pending(this.settings);
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    // What throws in here rejects the promise.
    return new Promise((resolve, reject) => {
      const now = systemClock.now();
      const namespace = this.settings.namespace(context);
      const origin = { context, namespace, expiresAt: now + this.circuit.limitMs, health: this.health };
      const create = new WaitingCreate(plant, origin, resolve, reject);
      // While the circuit is open, one create at a time is sent, to see whether the database is back. All others fail at once.
      const isProbed = this.turn.isTaken || this.circuit.isResting(now);
      if (this.circuit.isOpen && isProbed) create.fail(circuitOpen(this.circuit.cause));
      else if (!this.#pending.add(create, now)) reject(queueFull());
      else this.#gather(create);
    });
  }

  async send(
    creates: readonly WaitingCreate<Caller>[],
    reserveMs: number,
  ): Promise<Call<Caller> | undefined> {
    const now = this.expireLate(creates, reserveMs);
    const toSend = creates.filter(({ isSettled }) => !isSettled);
    if (toSend.length === 0) return undefined;
    const call = new Call(toSend, now, (ended, end) => this.#onEnd(ended, end));
    this.#inFlight = call;
    const running = call.run(this.createMany);
    this.#setAlarm();
    await running;
    return call;
  }

  /** Rejects those creates that have no more than `reserveMs` of their time left. Returns what time it is. */
  expireLate(creates: readonly WaitingCreate<Caller>[], reserveMs: number): number {
    const now = systemClock.now();
    for (const create of creates) if (create.isLate(now, reserveMs)) this.#expire(create);
    this.#release();
    return now;
  }

  state(): GroupCommitState {
    const { count, text } = this.#pending;
    const inFlightMs = this.#inFlight ? systemClock.now() - this.#inFlight.startedAt : null;
    return {
      queued: count,
      queuedText: text,
      inFlightMs,
      isOpen: this.circuit.isOpen,
      failedInRow: this.health.failed.count,
      failingMs: this.health.failingMs,
      rejectedInRow: this.health.rejected.count,
      rejectingMs: this.health.rejected.ms,
    };
  }

  #gather(create: WaitingCreate<Caller>): void {
    const { maxBatch } = this.settings;
    if (this.#gathering?.join(create, maxBatch)) return;
    this.#gathering = new Batch();
    this.#gathering.join(create, maxBatch);
    this.#leader.lead(this.#gathering);
  }

  #onEnd(call: Call<Caller>, end: BatchReport['end']): void {
    const now = systemClock.now();
    call.endedAt = now;
    this.#inFlight = undefined;
    this.#release();
    this.health.onEnd(call, end);
    this.pace.onEnd(call.firsts.length, now - call.sentAt, end);
    const isDecided =
      end === 'settled' ||
      end === 'unusable' ||
      (end === 'rejected' && call.firsts.every(({ isSettled }) => isSettled));
    if (isDecided) this.circuit.onResponse(now);
    if (call.isAborted) {
      this.#pending.hold(call);
      this.#suspectOutage(call.cause, undefined);
    }
    this.#report(call, end);
  }

  #report({ firsts, failed, startedAt, endedAt }: Call<Caller>, end: BatchReport['end']): void {
    const report: BatchReport = {
      plants: firsts.length,
      failed,
      ms: endedAt - startedAt,
      end,
      queued: this.#pending.count,
      isOpen: this.circuit.isOpen,
    };
    ignoringErrors(() => this.settings.onBatch(report));
  }

  /** Rejects a create that has timed out in the queue. */
  #expire(create: WaitingCreate<Caller>): void {
    if (create.isSettled) return;
    create.expire(this.circuit.lastRollback);
    const { rollback } = create;
    // In a pause between two attempts there is no call whose abort would say so.
    if (!rollback || this.#inFlight) return;
    // A lock may be that of its row alone.
    const mayBeOutage = rollback.reason === 'conflict' && rollback.isLone;
    if (!mayBeOutage && !this.circuit.isStalled) return;
    const { reason, cause, callMs } = rollback;
    this.#suspectOutage(reason === 'locked' ? lockedBy(this.health.lockedSince(), cause) : cause, callMs);
  }

  /** Opens the circuit, unless the database responds to others. */
  #suspectOutage(cause: unknown, callMs: number | undefined): void {
    if (!this.circuit.onTimeout(cause, callMs, systemClock.now())) return;
    this.#gathering = undefined;
    // Those that have just settled stay as they are.
    for (const create of this.#pending.creates) create.failNotStored(circuitOpen(cause));
    this.#release();
  }

  /** Frees the places of settled creates. */
  #release(): void {
    this.#pending.release();
    if (this.#pending.count > 0) this.#setAlarm();
    else this.#stopAlarm();
  }

  #stopAlarm(): void {
    systemClock.clearTimer(this.#alarm);
    this.#alarm = undefined;
  }

  /** Sets the alarm for the first create that times out. */
  #setAlarm(): void {
    const [first] = this.#pending.creates;
    if (!first || this.#alarm !== undefined) return;
    const ms = Math.max(0, first.expiresAt - systemClock.now());
    this.#alarm = systemClock.setTimer(() => this.#onAlarm(), ms);
  }

  #onAlarm(): void {
    this.#alarm = undefined;
    // A timer may fire up to 1 ms too early: the alarm is then set again.
    const now = systemClock.now();
    for (const create of this.#pending.creates) {
      if (create.expiresAt > now) break;
      // A call is given up with the first of its creates that times out.
      if (this.#inFlight?.creates.includes(create)) this.#inFlight.abort(this.circuit);
      else this.#expire(create);
    }
    this.#release();
  }
}
