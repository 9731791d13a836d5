import { retryPause } from './batch.js';
import { byId, senderOf, type WaitingCreate } from './waiting-create.js';

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
  /** By the clock of the queue. */
  readonly at: number;
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
   * Adds the creates of a batch. They are split into a part of small senders and one of large senders, or, if one has
   * sent them all, into `count` equal parts.
   */
  add(creates: readonly WaitingCreate<Caller>[], count: number): void {
    if (creates.length === 0) return;
    const groups = groupsOf(creates);
    if (groups.length === 1) {
      const [sender, all] = groups[0]!;
      this.#lineOf(sender).parts.unshift(...cut(all.sort(byId), count));
    } else {
      const average = creates.length / groups.length;
      // If all have sent as many, half of them.
      const small = groups.findIndex(([, group]) => group.length >= average) || groups.length >> 1;
      this.#mixed.push(groups.slice(0, small).flatMap(([, group]) => group));
      const [[sender, largest], ...more] = groups.slice(small) as typeof groups & [(typeof groups)[0]];
      if (more.length === 0) this.#lineOf(sender).parts.push(largest);
      else this.#mixed.push([largest, ...more.map(([, group]) => group)].flat());
    }
  }

  /** Adds a create, and its duplicates, that the database rolled back alone. They are sent again alone, after a pause. */
  addRetry(creates: readonly WaitingCreate<Caller>[], now: number): void {
    const [create] = creates;
    if (!create) return;
    const retry = { creates: [...creates], at: now + retryPause(create.retries++) };
    const { id } = create.plant;
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
    return Math.min(...[...this.#retries.values()].map(({ at }) => at));
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
