import { isThenable, type MaybePromise } from './http.js';
import { checkOptions, wholeNumber } from './options.js';
import type { NewPlant } from './plant.js';
import { isNamed } from './problems.js';
import { type PlantStorage, StorageBusy, type StorageContext } from './storage.js';

/** What became of one plant of a batch; an `Error` is what its `create` throws. */
export type CreateOutcome = 'created' | 'taken' | Error;

/**
 * Stores plants in one go, and answers one outcome a plant, in their order. No call has an id twice; ids come sorted, so
 * that two instances cannot wait for each other's rows.
 *
 * @throws {RolledBack} when the database said that it stored nothing: then they are sent again.
 * Anything else thrown is the outcome of each plant: it may or may not exist.
 */
export type CreateMany<Caller> = (
  plants: readonly NewPlant[],
  contexts: readonly StorageContext<Caller>[],
) => MaybePromise<readonly CreateOutcome[]>;

/** The options of `groupCommit`. */
export interface GroupCommitOptions {
  /** The most plants in one batch; a batch also ends after 1 Mi characters of text. Default: 256. */
  readonly maxBatch?: number | undefined;
  /** The most creates that are held, waiting or sent, before `StorageBusy`. Default: 10 000. */
  readonly maxQueued?: number | undefined;
  /** How long a batch may take, sending it again included, before it is given up, in milliseconds. Default: 10 000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Thrown by a `createMany` when the database itself said that nothing of this call was stored: the plants are sent
 * again, within the batch's time, `together` (a deadlock, a failover), or `apart`, in halves, to find the one at
 * fault. Never thrown for a lost connection or a passed deadline: the plants may be there.
 *
 * @example
 * ```ts
 * function resending<Caller>(createMany: CreateMany<Caller>): CreateMany<Caller> {
 *   return async (plants, contexts) => {
 *     try {
 *       return await createMany(plants, contexts);
 *     } catch (error) {
 *       const deadlock = (error as { code?: string }).code === '40P01';
 *       throw deadlock ? new RolledBack('together', error) : error;
 *     }
 *   };
 * }
 * ```
 */
export class RolledBack extends Error {
  override readonly name = 'RolledBack';

  /** @param cause the database's error: what `create` throws once there is no point in sending again */
  constructor(
    readonly resend: 'together' | 'apart',
    override readonly cause: unknown,
  ) {
    super(`the database rolled back: ${cause}`);
  }
}

/** One call of `create`. */
interface Create<Caller> {
  readonly plant: NewPlant;
  readonly context: StorageContext<Caller>;
  readonly resolve: (outcome: 'created' | 'taken') => void;
  readonly reject: (error: unknown) => void;
  /** The state of the queue when this one entered it. */
  readonly epoch: number;
  /** Later creates of the same id in its batch, which wait for what becomes of this one. */
  followers: Create<Caller>[] | undefined;
  answered: boolean;
}

/** @internal shared with the storages whose statements keep the same time */
export const groupCommitDefaults = { maxBatch: 256, maxQueued: 10_000, timeoutMs: 10_000 };

const rules = {
  maxBatch: wholeNumber(groupCommitDefaults.maxBatch, 1),
  maxQueued: wholeNumber(groupCommitDefaults.maxQueued, 1),
  timeoutMs: wholeNumber(groupCommitDefaults.timeoutMs, 1),
};

/** Keeps one statement well below what databases take, however long the names are; a longer plant goes alone. */
const maxText = 2 ** 20;

/**
 * Makes a storage that commits many creates at once: those of one event-loop turn, and those that arrive while a
 * batch is on its way. One batch is on its way at a time. A create whose client has gone before it was sent is not sent.
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
  options: GroupCommitOptions = {},
): PlantStorage<Caller> {
  const { maxBatch, maxQueued, timeoutMs } = checkOptions(options, rules);
  const queue: Create<Caller>[] = [];
  /** Creates that take memory: waiting, sent, or given up while `createMany` still has them. */
  let held = 0;
  let running = false;
  /** Changes when a batch starts and when it is answered, which tells who had to wait. */
  let epoch = 0;

  return {
    create: (plant, context) =>
      new Promise((resolve, reject) => {
        if (held >= maxQueued) return reject(new StorageBusy());
        held++;
        enqueue({ plant, context, resolve, reject, epoch, followers: undefined, answered: false });
      }),
  };

  function enqueue(create: Create<Caller>): void {
    queue.push(create);
    wake();
  }

  function wake(): void {
    if (running || queue.length === 0) return;
    running = true;
    atEndOfTurn(startBatch);
  }

  function startBatch(): void {
    const batch = takeBatch();
    epoch++;
    const time = { over: false, lastError: undefined as unknown };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      running = false;
      wake();
    };
    const sent = send(batch, time);
    // A driver that blocks has answered by now, and needs no clock.
    if (batch.every(({ answered }) => answered)) {
      end();
      return;
    }
    timer = setTimeout(() => {
      time.over = true;
      const error = new Error(`the storage did not answer within ${timeoutMs} ms`, { cause: time.lastError });
      answerAll(batch, () => error);
      end();
    }, timeoutMs);
    sent.then(() => time.over || end());
  }

  /** The next creates to send, sorted, one of each id, without those that nobody waits for any more. */
  function takeBatch(): Create<Caller>[] {
    const batch: Create<Caller>[] = [];
    let taken = 0;
    let text = 0;
    for (; taken < queue.length && batch.length < maxBatch; taken++) {
      const create = queue[taken]!;
      text += create.plant.name.length + (create.plant.tag?.length ?? 0);
      if (batch.length > 0 && text > maxText) break;
      // A signal is made when it is read, at a fifth of a request's price: not for those who did not wait.
      if (create.epoch === epoch || isWanted(create)) batch.push(create);
    }
    queue.splice(0, taken);
    // By their order, not by a Map for all: V8 chains the tables that a Map outgrows, and old ones keep new ones alive.
    const firsts: Create<Caller>[] = [];
    for (const create of batch.sort(byId)) {
      const first = firsts.at(-1);
      if (first?.plant.id === create.plant.id) {
        first.followers ??= [];
        first.followers.push(create);
      } else firsts.push(create);
    }
    return firsts;
  }

  /** Whether somebody waits for this create; if not, lets go of it. */
  function isWanted(create: Create<Caller>): boolean {
    // No context comes from no request, but from a script that calls `create` by itself.
    const signal = create.context?.signal;
    if (!signal?.aborted) return true;
    answer(create, signal.reason);
    held--;
    return false;
  }

  /** Sends creates until each has an outcome, and answers them. Never rejects. */
  async function send(creates: Create<Caller>[], time: { over: boolean; lastError: unknown }): Promise<void> {
    let batch = creates;
    for (let attempt = 0; batch.length > 0; attempt++) {
      try {
        if (time.over) throw time.lastError;
        const creating = createMany(
          batch.map(({ plant }) => plant),
          batch.map(({ context }) => context),
        );
        const outcomes = isThenable(creating) ? await creating : creating;
        if (outcomes.length !== batch.length)
          throw new TypeError('createMany must answer one outcome a plant');
        answerAll(batch, (i) => outcomes[i]);
      } catch (error) {
        const rolledBack = isNamed<RolledBack>(error, 'RolledBack') ? error : undefined;
        time.lastError = rolledBack ? rolledBack.cause : error;
        if (rolledBack?.resend === 'apart' && batch.length > 1) {
          const half = batch.length >> 1;
          await send(batch.slice(0, half), time);
          return send(batch.slice(half), time);
        }
        if (rolledBack?.resend === 'together' && !time.over) {
          await pause(attempt);
          batch = batch.filter(isWanted);
          continue;
        }
        answerAll(batch, () => time.lastError);
      }
      held -= batch.length;
      return;
    }
  }

  function answerAll(batch: readonly Create<Caller>[], outcomeOf: (i: number) => unknown): void {
    epoch++;
    batch.forEach((create, i) => {
      answer(create, outcomeOf(i));
    });
  }

  /** Answers a create, once; later creates of its id are `taken` if it is stored now, else they wait for the next batch. */
  function answer(create: Create<Caller>, outcome: unknown): void {
    if (create.answered) return;
    create.answered = true;
    const followers = create.followers ?? [];
    if (typeof outcome === 'string') {
      create.resolve(outcome as 'created' | 'taken');
      for (const follower of followers) follower.resolve('taken');
      held -= followers.length;
    } else {
      create.reject(outcome);
      for (const follower of followers) enqueue(follower);
    }
  }
}

function byId<Caller>({ plant: a }: Create<Caller>, { plant: b }: Create<Caller>): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/**
 * Calls `task` once this turn of the event loop has handed out what it has: drivers that block the loop while they
 * commit could otherwise never be joined. A microtask comes too early for that, a timer a millisecond too late.
 */
function atEndOfTurn(task: () => void): void {
  if (typeof globalThis.setImmediate === 'function') {
    globalThis.setImmediate(task);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  Object.assign(port1, {
    onmessage() {
      port1.close();
      task();
    },
  });
  port2.postMessage(null);
}

/** Waits before a batch is sent again: 5 ms, then twice as long each time, up to half a second; never quite as long as another instance. */
function pause(attempt: number): Promise<void> {
  const longest = Math.min(500, 5 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
}
