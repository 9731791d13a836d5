import { retryPause } from './batch.js';
import { byId, firstCall, senderOf, type WaitingCreate } from './waiting-create.js';

/** The creates of one sender, while some of them are suspected: its new creates wait in the same line. */
interface Line<Caller> {
  /** To be sent next, each as a batch. */
  readonly parts: WaitingCreate<Caller>[][];
  /** In the order of their calls. */
  readonly incoming: WaitingCreate<Caller>[];
}

/** Creates of one id that were rolled back alone: their row may be locked. */
interface Retry<Caller> {
  readonly creates: WaitingCreate<Caller>[];
  /** When the next attempt is due. */
  readonly at: number;
  /** How long the last attempt took, in milliseconds. */
  readonly tookMs: number;
}

/**
 * Creates of batches that the database rejected, until the plants at fault are found. They are split by sender first,
 * the smaller senders together, because most of those are innocent; only a batch of one sender is bisected.
 */
export class Suspects<Caller> {
  /** Parts of a batch of several senders. */
  readonly #mixed: WaitingCreate<Caller>[][] = [];
  /** By sender, in the order of their turns. */
  readonly #lines = new Map<unknown, Line<Caller>>();
  /** By id, so that another create of the id joins them; in the order of their attempts. */
  readonly #retries = new Map<bigint | symbol, Retry<Caller>>();
  #turns = 0;

  constructor(readonly timeoutMs: number) {}

  get isEmpty(): boolean {
    return this.#mixed.length === 0 && this.#lines.size === 0 && this.#retries.size === 0;
  }

  *[Symbol.iterator](): Generator<WaitingCreate<Caller>> {
    for (const part of this.#mixed) yield* part;
    for (const { parts, incoming } of this.#lines.values()) {
      for (const part of parts) yield* part;
      yield* incoming;
    }
    for (const { creates } of this.#retries.values()) yield* creates;
  }

  /**
   * Adds the creates of a batch, split by sender: small senders and large ones. What one sender sent is cut into `count`
   * equal parts. After a slow rejection, `count` is 16, for many senders too: each rejection waits for a lock.
   */
  add(creates: readonly WaitingCreate<Caller>[], count: number): void {
    if (creates.length === 0) return;
    const groups = groupsOf(creates);
    const [sender, ofSender] = groups[0]!;
    if (groups.length === 1)
      return void this.#lineOf(sender).parts.unshift(...cut(ofSender.sort(byId), count));
    const average = creates.length / groups.length;
    // If all have sent as many, half of them.
    const small = groups.findIndex(([, group]) => group.length >= average) || groups.length >> 1;
    const parts = count > 2 ? cut(groups, count) : [groups.slice(0, small), groups.slice(small)];
    for (const part of parts) {
      const [[last, largest]] = part.slice(-1) as [(typeof part)[0]];
      // The large sender alone: its new creates wait with it.
      if (part.length === 1 && part !== parts[0]) this.#lineOf(last).parts.push(largest);
      else this.#mixed.push(part.flatMap(([, group]) => group));
    }
  }

  /** Adds a create, and its duplicates, that the database rolled back alone. They are retried alone, after a pause. */
  addRetry(creates: readonly WaitingCreate<Caller>[], now: number, tookMs: number): void {
    const [create] = creates;
    if (!create) return;
    const { id } = create.plant;
    const { retries = 0 } = create;
    create.retries = retries + 1;
    const retry = { creates: [...creates], at: now + retryPause(retries), tookMs };
    // The id of another namespace: nothing can join.
    this.#retries.set(this.#retries.has(id) ? Symbol() : id, retry);
  }

  /** Takes a new create if it must not share a batch with others: its id is being retried, or its sender is suspected. */
  claim(create: WaitingCreate<Caller>): boolean {
    const retry = this.#retries.get(create.plant.id);
    const isRetried = retry !== undefined && retry.creates[0]?.namespace === create.namespace;
    const line = isRetried || this.#lines.size === 0 ? undefined : this.#lines.get(senderOf(create));
    const list = isRetried ? retry.creates : line?.incoming;
    list?.push(create);
    return list !== undefined;
  }

  /**
   * Takes the creates of the next turn; none if all have to pause. Every other turn is one of the mixed parts.
   *
   * @param take takes creates that can be sent, at most a batch, from the start of a list
   */
  next(now: number, take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    for (let i = 0; i < 4; i++) {
      const turn = this.#turns++ % 4;
      const creates =
        turn % 2 === 0
          ? this.#nextMixed(take)
          : turn === 1
            ? this.#nextOfLine(take)
            : this.#nextRetry(now, take);
      if (creates.length > 0) return creates;
    }
    return [];
  }

  #nextMixed(take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    for (let part = this.#mixed.shift(); part; part = this.#mixed.shift()) {
      const creates = take(part);
      if (creates.length > 0) return creates;
    }
    return [];
  }

  #nextOfLine(take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    for (const [sender, line] of this.#lines) {
      const creates = take(line.parts.shift() ?? line.incoming);
      // To the end: the next turn is the next sender's.
      this.#lines.delete(sender);
      if (line.parts.length + line.incoming.length > 0) this.#lines.set(sender, line);
      if (creates.length > 0) return creates;
    }
    return [];
  }

  #nextRetry(now: number, take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    for (const [key, retry] of this.#retries) {
      if (retry.at > now) continue;
      const timeoutAt = firstCall(retry.creates) + this.timeoutMs;
      if (timeoutAt > now && timeoutAt < now + 1.5 * retry.tookMs) {
        // An attempt that timed out would leave its outcome unknown.
        this.#retries.set(key, { ...retry, at: timeoutAt });
        continue;
      }
      const creates = take(retry.creates);
      this.#retries.delete(key);
      if (retry.creates.length > 0) this.#retries.set(key, retry);
      if (creates.length > 0) return creates;
    }
    return [];
  }

  /** When the next turn can be. */
  get readyAt(): number {
    if (this.#mixed.length > 0 || this.#lines.size > 0) return Number.NEGATIVE_INFINITY;
    let readyAt = Number.POSITIVE_INFINITY;
    for (const { at } of this.#retries.values()) if (at < readyAt) readyAt = at;
    return readyAt;
  }

  clear(): void {
    this.#mixed.length = 0;
    this.#lines.clear();
    this.#retries.clear();
  }

  #lineOf(sender: unknown): Line<Caller> {
    let line = this.#lines.get(sender);
    if (!line) {
      line = { parts: [], incoming: [] };
      this.#lines.set(sender, line);
    }
    return line;
  }
}

type Take<Caller> = (list: WaitingCreate<Caller>[]) => readonly WaitingCreate<Caller>[];

function cut<T>(list: readonly T[], count: number): T[][] {
  const size = Math.ceil(list.length / count);
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += size) parts.push(list.slice(start, start + size));
  return parts;
}

/** The creates of each sender, the smallest group first. */
function groupsOf<Caller>(creates: readonly WaitingCreate<Caller>[]): [unknown, WaitingCreate<Caller>[]][] {
  const groups = new Map<unknown, WaitingCreate<Caller>[]>();
  for (const create of creates) {
    const sender = senderOf(create);
    const group = groups.get(sender);
    if (group) group.push(create);
    else groups.set(sender, [create]);
  }
  return [...groups].sort(([, a], [, b]) => a.length - b.length);
}
