import { type Clock, systemClock } from './clock.js';
import { Create, copyOf, firstsOf } from './create.js';
import type { CreateMany } from './create-many.js';
import { type Complete, checkOptions, wholeNumber } from './options.js';
import type { NewPlant } from './plant.js';
import { Batch, type BatchEnd, type BatchQueue } from './send-batch.js';
import { type PlantStorage, StorageBusy, type StorageContext } from './storage.js';

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
export const groupCommitDefaults = {
  maxBatch: 256,
  maxQueued: 10_000,
  maxQueuedText: 33_554_432,
  timeoutMs: 10_000,
};

const rules = () => ({
  maxBatch: wholeNumber(groupCommitDefaults.maxBatch, 1),
  maxQueued: wholeNumber(groupCommitDefaults.maxQueued, 1),
  maxQueuedText: wholeNumber(groupCommitDefaults.maxQueuedText, 1),
  timeoutMs: wholeNumber(groupCommitDefaults.timeoutMs, 1),
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
  readonly createMany: CreateMany<Caller>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly #settings: Complete<GroupCommitOptions<Caller>>;
  /** In the order of their deadlines, which are no earlier than those of the batch that is on its way. */
  readonly #waiting: Create<Caller>[] = [];
  #heldCount = 0;
  #heldText = 0;
  #batch: Batch<Caller> | undefined;
  /** Whether a batch is on its way, or will be at the end of this turn. */
  #isRunning = false;
  /** Set from the end of a batch whose time was over until a probe is answered: the queue is down. */
  #outage: { readonly cause: unknown; readonly probeMs: number } | undefined;

  constructor(
    createMany: CreateMany<Caller>,
    options: GroupCommitOptions<Caller>,
    clock: Clock = systemClock,
  ) {
    this.createMany = createMany;
    this.clock = clock;
    this.#settings = checkOptions(options, rules());
    this.timeoutMs = this.#settings.timeoutMs;
  }

  create(plant: NewPlant, context: StorageContext<Caller>): Promise<'created' | 'taken'> {
    // What throws in here rejects this create alone.
    return new Promise((resolve, reject) => {
      const copy = copyOf(plant);
      const text = copy.name.length + (copy.tag?.length ?? 0);
      const refusal = this.#refusal(text);
      if (refusal) return reject(refusal);
      const namespace = this.#settings.namespace(context);
      const create = new Create(copy, context, text, namespace, resolve, reject);
      // The others are of the turn that the next batch ends: it sets theirs, with one look at the clock.
      if (this.#batch?.isOnItsWay) create.deadline = this.clock.now() + this.timeoutMs;
      this.#heldCount++;
      this.#heldText += text;
      this.#waiting.push(create);
      this.#wake();
    });
  }

  #refusal(text: number): StorageBusy | undefined {
    if (this.#outage && this.#isRunning) return outOfReach(this.#outage.cause);
    const { maxQueued, maxQueuedText } = this.#settings;
    const isFull = this.#heldCount >= maxQueued || this.#heldText + text > maxQueuedText;
    // A single create may be larger than the bound.
    return isFull && this.#heldCount > 0 ? new StorageBusy() : undefined;
  }

  leave(create: Create<Caller>): void {
    if (!create.isHeld) return;
    create.isHeld = false;
    this.#heldCount--;
    this.#heldText -= create.text;
  }

  #wake(): void {
    if (this.#isRunning || this.#waiting.length === 0) return;
    this.#isRunning = true;
    this.clock.atEndOfTurn(() => {
      this.#batch = new Batch(firstsOf(this.#takeWaiting()), this);
      this.#batch.send();
    });
  }

  onEnd(end: BatchEnd, rest: readonly Create<Caller>[], cause: unknown): void {
    this.#batch = undefined;
    this.#isRunning = false;
    this.#waiting.unshift(...rest);
    if (end === 'answered') this.#outage = undefined;
    if (end === 'unsent' || end === 'unanswered') this.#goDown(cause, end);
    this.#wake();
  }

  /** Refuses all who wait, and from now on all but one probe at a time. */
  #goDown(cause: unknown, end: BatchEnd): void {
    const { probeMs } = this.#outage ?? { probeMs: firstProbeMs };
    const longer = this.#outage !== undefined && end === 'unanswered';
    this.#outage = { cause, probeMs: Math.min(longer ? 2 * probeMs : probeMs, this.timeoutMs) };
    for (const create of this.#waiting.splice(0)) {
      create.fail(outOfReach(cause));
      this.leave(create);
    }
  }

  /** The next creates to send. Those whose client or whose time has gone while they waited are answered instead. */
  #takeWaiting(): Create<Caller>[] {
    const now = this.clock.now();
    const deadline = now + (this.#outage?.probeMs ?? this.timeoutMs);
    const batch: Create<Caller>[] = [];
    let count = 0;
    let text = 0;
    for (; count < this.#waiting.length && batch.length < this.#settings.maxBatch; count++) {
      const create = this.#waiting[count]!;
      if (batch.length > 0 && text + create.text > maxBatchText) break;
      // Reading `signal` creates an AbortController (a fifth of a request's cost): only for creates that had to wait.
      if (create.deadline !== undefined) {
        create.failIfGone();
        if (create.deadline <= now) create.fail(new StorageBusy());
      } else create.deadline = deadline;
      if (create.isAnswered) this.leave(create);
      else {
        batch.push(create);
        text += create.text;
      }
    }
    this.#waiting.splice(0, count);
    for (const create of this.#waiting) create.deadline ??= deadline;
    return batch;
  }
}

function outOfReach(cause: unknown): StorageBusy {
  return new StorageBusy('the storage is out of reach', { cause });
}
