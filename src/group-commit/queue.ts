import { type Complete, checkOptions, integer } from '../options.js';
import type { NewPlant } from '../plant/plant.js';
import { type PlantStorage, StorageBusy, type StorageContext } from '../storage.js';
import { type Clock, systemClock } from '../timers.js';
import { Batch, type BatchQueue } from './batch.js';
import { type CreateMany, outOfReach } from './create-many.js';
import { Create, copyOf } from './waiting-create.js';

/** The options of `groupCommit`. */
export interface GroupCommitOptions<Caller = unknown> {
  /** The most plants in one batch; a batch also ends after 256 Ki characters of text. Default: 256. */
  readonly maxBatch?: number | undefined;
  /** The most creates that are held, waiting or sent, before `StorageBusy`. Default: 10 000. */
  readonly maxQueued?: number | undefined;
  /** The most characters of text that these creates hold together. Default: 33 554 432. */
  readonly maxQueuedText?: number | undefined;
  /** How long a create may take, from its call to its answer, in milliseconds. Default: 10 000. */
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
 * How long a probe may take before it is given up, in milliseconds. Twice as long after each probe that was sent and
 * not answered, so that a slow database is found to be back too.
 */
const firstProbeMs = 250;

/**
 * Makes a storage that commits many creates at once: those of one event-loop turn, and those that arrive while a batch
 * is on its way. One batch is on its way at a time.
 *
 * Each create is answered within `timeoutMs`. A create whose time ends is `StorageBusy` if it surely is not stored, else
 * an error that leaves its outcome open. After the time of a whole batch is over, creates are refused at once with
 * `StorageBusy`, except one at a time that tries whether the database is back. A create that had to wait for another
 * batch is not sent if its client has gone meanwhile.
 *
 * @throws {TypeError} that names a bad option
 *
 * @example
 * ```ts
 * import pg from 'pg';
 *
 * const pool = new pg.Pool();
 * const insert = `INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
 *   ON CONFLICT DO NOTHING RETURNING id::text`;
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

/** @internal Gathers creates into batches. Exported for tests, which bring a clock. */
export class Queue<Caller> implements BatchQueue<Caller> {
  readonly #settings: Complete<GroupCommitOptions<Caller>>;
  /** In the order of their calls. */
  readonly #waiting: Create<Caller>[] = [];
  #heldCount = 0;
  #heldText = 0;
  /** Whether a batch is on its way, or will be at the end of this turn. */
  #isRunning = false;
  /** When the last batch ended: creates from before had to wait for it. */
  #idleSince = 0;
  /** Set from the end of a batch whose time was over until a probe is answered: the queue is down. */
  #outage: { readonly cause: unknown; readonly probeMs: number } | undefined;

  constructor(
    readonly createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
    readonly clock: Clock = systemClock,
  ) {
    this.#settings = checkOptions(options, rules());
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    // What throws in here rejects this create alone.
    return new Promise((resolve, reject) => {
      const namespace = this.#settings.namespace(context);
      const calledAt = this.clock.now();
      const create = new Create(copyOf(plant), context, namespace, calledAt, resolve, reject, this.#onLeave);
      this.#checkRoom(create);
      this.#heldCount++;
      this.#heldText += create.text;
      this.#waiting.push(create);
      this.#wake();
    });
  }

  #checkRoom({ text }: Create<Caller>): void {
    if (this.#outage && this.#isRunning) throw outOfReach(this.#outage.cause);
    const { maxQueued, maxQueuedText } = this.#settings;
    const isFull = this.#heldCount >= maxQueued || this.#heldText + text > maxQueuedText;
    // A single create may be larger than the bound.
    if (isFull && this.#heldCount > 0) throw new StorageBusy();
  }

  readonly #onLeave = ({ text }: Create<Caller>): void => {
    this.#heldCount--;
    this.#heldText -= text;
  };

  #wake(): void {
    if (this.#isRunning || this.#waiting.length === 0) return;
    this.#isRunning = true;
    this.clock.atEndOfTurn(() => {
      const timeMs = this.#outage?.probeMs ?? this.#settings.timeoutMs;
      new Batch(this.#takeWaiting(timeMs), timeMs, this).send();
    });
  }

  onEnd(batch: Batch<Caller>): void {
    this.#isRunning = false;
    this.#idleSince = this.clock.now();
    this.#waiting.unshift(...batch.open);
    if (batch.end === 'answered') this.#outage = undefined;
    if (batch.end === 'unsent' || batch.end === 'unanswered') this.#goDown(batch);
    this.#wake();
  }

  /** Refuses all who wait, and from now on all but one probe at a time. */
  #goDown({ cause, end }: Batch<Caller>): void {
    const longer = end === 'unanswered' ? 2 : 1;
    const probeMs = this.#outage ? longer * this.#outage.probeMs : firstProbeMs;
    this.#outage = { cause, probeMs: Math.min(probeMs, this.#settings.timeoutMs) };
    for (const create of this.#waiting.splice(0)) create.fail(outOfReach(cause));
  }

  /** The next creates to send. Those whose client or whose time has gone while they waited are answered instead. */
  #takeWaiting(timeMs: number): Create<Caller>[] {
    const dueSince = this.clock.now() - timeMs;
    const batch: Create<Caller>[] = [];
    let count = 0;
    let text = 0;
    for (const create of this.#waiting) {
      const isFull = batch.length > 0 && text + create.text > maxBatchText;
      if (isFull || batch.length === this.#settings.maxBatch) break;
      count++;
      // Asking may make an AbortController, a fifth of a request: so only creates that had to wait are asked.
      if (create.calledAt < this.#idleSince) create.failIfGone();
      if (create.calledAt <= dueSince) create.fail(new StorageBusy());
      if (create.isAnswered) continue;
      batch.push(create);
      text += create.text;
    }
    this.#waiting.splice(0, count);
    return batch;
  }
}
