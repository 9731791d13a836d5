import type { MaybePromise } from '../http.js';
import type { Call } from './call.js';
import { pause } from './circuit.js';
import { maxBatchText } from './options.js';
import type { Turn } from './turn.js';
import type { WaitingCreate } from './waiting-create.js';

/** What a batch needs from its queue. */
interface BatchOwner<Caller> {
  readonly settings: { readonly maxBatch: number };
  readonly turn: Turn;
  readonly circuit: { readonly isOpen: boolean };
  /** The creates of each id that was rolled back alone: later ones join them. */
  readonly lockedRows: Set<WaitingCreate<Caller>[]>;
  /**
   * Sends those of the creates that still wait, if there are any. Returns their call, or a promise of it, when it has ended.
   *
   * @param rolledBack their last call, if they are retried alone
   */
  send(creates: WaitingCreate<Caller>[], rolledBack?: Call<Caller>): MaybePromise<Call<Caller> | undefined>;
}

/** Creates that gather until they are sent together; in parts, if the database rejects one of them. */
export class Batch<Caller> {
  readonly #creates: WaitingCreate<Caller>[] = [];
  #text = 0;
  #isClosed = false;

  constructor(readonly queue: BatchOwner<Caller>) {}

  /** Adds a create, unless the batch is full or closed. Returns whether it did. */
  join(create: WaitingCreate<Caller>): boolean {
    const count = this.#creates.length;
    const text = this.#text + create.textLength;
    // A longer plant is sent alone.
    const isFull = count === this.queue.settings.maxBatch || text > maxBatchText;
    if (count > 0 && (isFull || this.#isClosed)) return false;
    this.#text = text;
    return this.#creates.push(create) > 0;
  }

  /** Sends the batch when its turn comes. Called in the call of its leader. Never rejects. */
  async lead(): Promise<void> {
    const { turn } = this.queue;
    // At least one microtask: creates that are called together share a batch.
    await turn.take();
    const gathering = turn.gather();
    if (gathering) await gathering;
    this.#isClosed = true;
    await this.#send(this.#creates);
  }

  /** Sends creates until each is settled. Begins in a turn; each part of a rejected call is sent in a turn of its own. */
  async #send(creates: WaitingCreate<Caller>[]): Promise<void> {
    const { turn, circuit } = this.queue;
    let parts = [creates];
    for (let rollbacks = 0; parts.length > 0; ) {
      const call = await this.queue.send(parts.shift()!);
      if (!call) continue;
      const { end } = call;
      const open = call.creates.filter(({ isSettled }) => !isSettled);
      if (end === 'together' && (call.firsts.length > 1 || circuit.isOpen)) {
        // In this turn: what rolls back many, such as a failover, concerns other batches, too.
        await pause(rollbacks++);
        parts.unshift(open);
        continue;
      }
      if (end === 'together') this.#retryAlone(open, call);
      else if (open.length > 0) {
        parts = [...parts, ...(end === 'apart' ? partsOf(open) : [open])];
      }
      if (parts.length === 0) break;
      turn.pass();
      await turn.take(true);
    }
    turn.pass();
  }

  /**
   * Retries creates of one id that the database has rolled back alone. Its row may be locked: so others are sent meanwhile,
   * later creates of the id join these, and an attempt that would outlast a create's timeout is not made.
   */
  async #retryAlone(row: WaitingCreate<Caller>[], rolledBack?: Call<Caller>): Promise<void> {
    const { turn, lockedRows } = this.queue;
    lockedRows.add(row);
    for (let [attempt, call] = [0, rolledBack]; call?.end === 'together'; attempt++) {
      if (attempt > 0) turn.pass();
      await pause(attempt);
      await turn.take(true);
      row.splice(0, row.length, ...row.filter(({ isSettled }) => !isSettled));
      call = await this.queue.send(row, call);
    }
    lockedRows.delete(row);
    await this.#send(row);
  }
}

/**
 * Cuts the creates of a rejected call into parts. The size of a part is the next smaller power of four: n creates, however
 * many of them are at fault, take at most 1.4 n + 6 calls.
 */
function partsOf<Caller>(creates: readonly WaitingCreate<Caller>[]): WaitingCreate<Caller>[][] {
  let size = 1;
  while (size * 4 < creates.length) size *= 4;
  const places = Array.from({ length: Math.ceil(creates.length / size) }, (_, i) => i * size);
  return places.map((start) => creates.slice(start, start + size));
}
