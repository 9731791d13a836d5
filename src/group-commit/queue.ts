import { type Complete, checkOptions, integer } from '../options.js';
import type { NewPlant } from '../plant/plant.js';
import type { PlantStorage, StorageContext } from '../storage.js';
import { type Clock, systemClock } from '../timers.js';
import { Batch, type BatchQueue } from './batch.js';
import { type CreateMany, unavailable } from './create-many.js';
import { Room } from './room.js';
import { Suspects } from './suspects.js';
import { type CreateOwner, firstCall, WaitingCreate } from './waiting-create.js';

/** The options of `groupCommit`. */
export interface GroupCommitOptions<Caller = unknown> {
  /** Maximum plants in one batch; a batch also ends after 256 Ki characters of text. Default: 256. */
  readonly maxBatch?: number | undefined;
  /** Maximum pending creates, queued or in flight; more fail with `StorageBusy`. Default: 10 000. */
  readonly maxQueued?: number | undefined;
  /** Maximum characters of text that these creates have together. Default: 33 554 432. */
  readonly maxQueuedText?: number | undefined;
  /** How long a create may take, from its call until it settles, in milliseconds. Default: 10 000. */
  readonly timeoutMs?: number | undefined;
  /** What an id is unique within, compared by `===`: `({ caller }) => caller.tenant`, say. Default: one namespace for all. */
  readonly namespace?: ((context: StorageContext<Caller>) => unknown) | undefined;
}

/** @internal shared with the storages whose statements keep the same time */
export const defaultTimeoutMs = 10_000;

const rules = () => ({
  maxBatch: integer(256, 1),
  maxQueued: integer(10_000, 1),
  maxQueuedText: integer(33_554_432, 1),
  timeoutMs: integer(defaultTimeoutMs, 1),
  namespace: [() => undefined, (value: unknown) => typeof value === 'function', 'a function'] as const,
});

/**
 * Ends a batch before its text, at 3 bytes a character, fills a statement of 1 MiB: databases refuse longer ones
 * (MySQL's `max_allowed_packet`). A longer plant is sent alone.
 */
const maxBatchText = 262_144;

/**
 * Timeout of the first probe, in milliseconds. Doubles after a probe that was sent but did not settle, so that a slow
 * database is recognised too.
 */
const firstProbeMs = 250;

/**
 * A rejection that took this long, in milliseconds, waited for a lock, and so will the next. The batch is then split
 * into sixteen parts, not two: two waits find a lone plant among 256, not eight.
 */
const slowRejectionMs = 100;

/**
 * Creates a storage that writes in batches: all creates of one event-loop turn, then all that arrive while a batch is in
 * flight. At most one batch is in flight.
 *
 * Each create settles within `timeoutMs`. On timeout it rejects with `StorageBusy` if it was definitely not stored,
 * otherwise with an error (outcome unknown). If a whole batch times out, the circuit opens: creates fail fast with
 * `StorageBusy`, apart from one probe at a time. A create that waited for another batch is not sent if its client has
 * disconnected meanwhile.
 *
 * A rejected batch (`RolledBack`) is split by client, and each client's part is bisected in turns with everybody else's
 * batches. Clients are distinguished by their `Authorization` header: those that share one token wait for each other.
 *
 * @throws {TypeError} that names a bad option
 *
 * @example
 * ```ts
 * import pg from 'pg';
 *
 * const pool = new pg.Pool();
 * const insert = `INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
 *   ON CONFLICT (id) DO NOTHING RETURNING id::text`;
 * const storage = groupCommit(async (plants) => {
 *   const ids = plants.map(({ id }) => String(id));
 *   const names = plants.map(({ name }) => name);
 *   const tags = plants.map(({ tag }) => tag ?? null);
 *   const { rows } = await pool.query<{ id: string }>(insert, [ids, names, tags]);
 *   const created = new Set(rows.map((row) => row.id));
 *   return ids.map((id) => (created.has(id) ? 'created' : 'taken'));
 * });
 * ```
 */
export function groupCommit<Caller = unknown>(
  createMany: CreateMany<Caller>,
  options: GroupCommitOptions<Caller> = {},
): PlantStorage<Caller> {
  const queue = new Queue(createMany, options);
  return { create: (plant, context) => queue.create(plant, context) };
}

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
  /** Set while the circuit is open: from a batch timing out until a probe settles. */
  #circuit: { readonly cause: unknown; readonly probeMs: number } | undefined;
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
    this.#settings = checkOptions(options, rules());
    this.#suspects = new Suspects(this.#settings.timeoutMs);
    this.#room = new Room(this.#settings.maxQueued, this.#settings.maxQueuedText);
    this.now = clock.now;
  }

  get isProbing(): boolean {
    return this.#circuit !== undefined;
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    try {
      const create = new WaitingCreate(plant, context, this.#settings.namespace(context), this);
      if (this.#circuit && this.#isRunning) throw unavailable(this.#circuit.cause);
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
    if (creates.length > 0) new Batch(creates, this.#timeMs, this).send();
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

  /** Of an attempt: a probe gets less. */
  get #timeMs(): number {
    return this.#circuit?.probeMs ?? this.#settings.timeoutMs;
  }

  /** Good batches and suspects take turns. If both wait they get equal time, because a suspect may wait for a lock. */
  #nextTurn(): readonly WaitingCreate<Caller>[] {
    if (!this.#isSuspects && this.#suspects.isEmpty) return this.#take(this.#waiting);
    const now = this.now();
    const suspects = () => (now < this.#suspectsRestUntil ? [] : this.#suspects.next(now, this.#take));
    if (!this.#isSuspects) {
      const creates = suspects();
      this.#isSuspects = creates.length > 0;
      if (this.#isSuspects) return creates;
    }
    const good = this.#take(this.#waiting);
    if (!this.#isSuspects) return good;
    if (good.length > 0) {
      this.#isSuspects = false;
      this.#suspectsRestUntil = now + this.#lastMs;
      return good;
    }
    const creates = suspects();
    this.#isSuspects = creates.length > 0;
    return creates;
  }

  /** Takes the next creates to send from the start of a list. Those that disconnected or timed out are rejected instead. */
  readonly #take = (list: WaitingCreate<Caller>[]): readonly WaitingCreate<Caller>[] => {
    this.#sentAt = this.now();
    const dueSince = this.#sentAt - this.#timeMs;
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
      this.#circuit = undefined;
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
    const probeMs = this.#circuit ? (isSlow ? 2 : 1) * this.#circuit.probeMs : firstProbeMs;
    this.#circuit = { cause, probeMs: Math.min(probeMs, this.#settings.timeoutMs) };
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
