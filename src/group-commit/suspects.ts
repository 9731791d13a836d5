import { retryPause } from './circuit.js';
import { byId, firstCall, isOpen, senderOf, type WaitingCreate } from './waiting-create.js';

/**
 * A rejection that took this long, in milliseconds, waited for a lock, and so will the next. The batch is then split
 * into sixteen parts, not two: two waits find a lone plant among 256, not eight.
 */
const slowRejectionMs = 100;

/** Creates that are sent in turns with those of other lines. */
interface Line<Caller> {
  /** To be sent next, each as a batch. */
  readonly parts: WaitingCreate<Caller>[][];
  /** To be sent after these, in the order of their calls. */
  readonly incoming: WaitingCreate<Caller>[];
  /** When the next attempt is due. */
  at: number;
  /** How long an attempt takes, in milliseconds. */
  readonly tookMs: number;
}

export type Take<Caller> = (list: WaitingCreate<Caller>[]) => readonly WaitingCreate<Caller>[];

/**
 * Creates that the database rolled back, until the plants at fault are found, or their rows unlocked. A rejected batch is
 * split by sender first, the smaller senders together, because most of those are innocent; only what one sender sent is
 * bisected.
 */
export class Suspects<Caller> {
  /** Parts of a batch of several senders. */
  readonly #mixed: WaitingCreate<Caller>[][] = [];
  /**
   * In the order of their turns. By sender, while some of its creates are suspected: its new creates wait in the same
   * line. By id, if it was rolled back alone: its row may be locked, and new creates of the id join it.
   */
  readonly #lines = new Map<unknown, Line<Caller>>();
  #isMixedTurn = false;

  constructor(readonly timeoutMs: number) {}

  get isEmpty(): boolean {
    return this.#mixed.length === 0 && this.#lines.size === 0;
  }

  /** One that is in the next turn, if its line is ready. */
  get first(): WaitingCreate<Caller> | undefined {
    const mixed = this.#mixed.flat().find(isOpen);
    if (mixed) return mixed;
    const lines = [...this.#lines.values()].sort((a, b) => a.at - b.at);
    return lines.flatMap(({ parts, incoming }) => [...parts.flat(), ...incoming]).find(isOpen);
  }

  /** When the next turn can be. */
  get readyAt(): number {
    if (this.#mixed.length > 0) return Number.NEGATIVE_INFINITY;
    let readyAt = Number.POSITIVE_INFINITY;
    for (const { at } of this.#lines.values()) if (at < readyAt) readyAt = at;
    return readyAt;
  }

  *[Symbol.iterator](): Generator<WaitingCreate<Caller>> {
    yield* this.#mixed.flat();
    for (const { parts, incoming } of this.#lines.values()) yield* [...parts.flat(), ...incoming];
  }

  /** Adds the creates of a batch that was rejected, which `tookMs` milliseconds. */
  addRejected(creates: readonly WaitingCreate<Caller>[], tookMs: number): void {
    this.add(creates, tookMs < slowRejectionMs ? 2 : 16);
  }

  /**
   * Adds the creates of a batch, split by sender: small senders and large ones. What one sender sent is cut into `count`
   * equal parts. After a slow rejection, so are many senders.
   */
  add(creates: readonly WaitingCreate<Caller>[], count = 1): void {
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

  /** Adds creates of one id that the database rolled back alone. They are sent alone, after a pause. */
  addLone(creates: readonly WaitingCreate<Caller>[], now: number, tookMs: number): void {
    const [create] = creates;
    if (!create) return;
    const { id } = create.plant;
    create.retries = (create.retries ?? -1) + 1;
    // The id of another namespace: nothing can join.
    const key = this.#lines.has(id) ? Symbol() : id;
    this.#lines.set(key, { parts: [], incoming: [...creates], at: now + retryPause(create.retries), tookMs });
  }

  /** Takes a new create if it must not share a batch with others: its id was rolled back alone, or its sender is suspected. */
  claim(create: WaitingCreate<Caller>): boolean {
    if (this.#join(create)) return true;
    const line = this.#lines.get(senderOf(create));
    line?.incoming.push(create);
    return line !== undefined;
  }

  /** Takes a create whose id was rolled back alone: its row may be locked. */
  #join(create: WaitingCreate<Caller>): boolean {
    const line = this.#lines.get(create.plant.id);
    if (!line || line.incoming[0]?.namespace !== create.namespace) return false;
    return line.incoming.push(create) > 0;
  }

  /**
   * Takes the creates of the next turn; none if all have to pause. Every other turn is one of the mixed parts.
   *
   * @param take takes creates that can be sent, at most a batch, from the start of a list
   */
  next(now: number, take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    if (this.isEmpty) return [];
    this.#isMixedTurn = !this.#isMixedTurn;
    const mixed = this.#isMixedTurn ? this.#nextMixed(take) : [];
    if (mixed.length > 0) return mixed;
    const ofLine = this.#nextOfLine(now, take);
    return ofLine.length > 0 || this.#isMixedTurn ? ofLine : this.#nextMixed(take);
  }

  #nextMixed(take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    for (let part = this.#mixed.shift(); part; part = this.#mixed.shift()) {
      const creates = take(part.filter((create) => !this.#join(create)));
      if (creates.length > 0) return creates;
    }
    return [];
  }

  #nextOfLine(now: number, take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    for (const [key, line] of this.#lines) {
      if (line.tookMs > 0 && line.at <= now) {
        const timeoutAt = firstCall(line.incoming) + this.timeoutMs;
        // An attempt that timed out would leave its outcome unknown.
        if (timeoutAt > now && timeoutAt < now + 1.5 * line.tookMs) line.at = timeoutAt;
      }
      if (line.at > now) continue;
      const part = line.parts.shift()?.filter((create) => !this.#join(create));
      const creates = take(part ?? line.incoming);
      // To the end: the next turn is the next line's.
      this.#lines.delete(key);
      if (line.parts.length + line.incoming.length > 0) this.#lines.set(key, line);
      if (creates.length > 0) return creates;
    }
    return [];
  }

  clear(): void {
    this.#mixed.length = 0;
    this.#lines.clear();
  }

  #lineOf(sender: unknown): Line<Caller> {
    const line = this.#lines.get(sender) ?? { parts: [], incoming: [], at: 0, tookMs: 0 };
    this.#lines.set(sender, line);
    return line;
  }
}

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
