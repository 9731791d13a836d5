import { retryPause } from './circuit.js';
import { firstCall, isOpen, senderOf, type WaitingCreate } from './waiting-create.js';

/**
 * A rejection that took this long, in milliseconds, waited for a lock, and so will the next. Many senders are then split
 * into sixteen parts, not two: two waits find a lone plant among 256, not eight.
 */
const slowRejectionMs = 100;

/**
 * Creates that are sent in turns with those of other lines. Its newest and its oldest creates take turns, too: a new create
 * does not wait for all that were rejected before it, and the oldest are sent even if new ones keep coming.
 */
interface Line<Caller> {
  /** In the order of their calls. */
  readonly creates: WaitingCreate<Caller>[];
  isNewestTurn: boolean;
  /** When the next attempt is due. */
  at: number;
  /** How long an attempt takes, in milliseconds. */
  readonly tookMs: number;
}

export type Take<Caller> = (list: WaitingCreate<Caller>[]) => readonly WaitingCreate<Caller>[];

/**
 * Creates that the database rolled back, until the plants at fault are found, or their rows unlocked. A rejected batch is
 * split by sender first, the smaller senders together, because most of those are innocent. What one sender sent is cut into
 * sixteen: a flood of rejected plants then costs a statement for each, where halves would cost two.
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

  constructor(
    readonly timeoutMs: number,
    readonly maxBatch: number,
  ) {}

  get isEmpty(): boolean {
    return this.#mixed.length === 0 && this.#lines.size === 0;
  }

  /** One that is in the next turn, if its line is ready. */
  get first(): WaitingCreate<Caller> | undefined {
    // Asked after each batch: an idle queue must not pay for it.
    if (this.isEmpty) return undefined;
    const mixed = this.#mixed.flat().find(isOpen);
    if (mixed) return mixed;
    const lines = [...this.#lines.values()].sort((a, b) => a.at - b.at);
    return lines.flatMap(({ creates }) => creates).find(isOpen);
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
    for (const { creates } of this.#lines.values()) yield* creates;
  }

  /** Adds the creates of a batch that was rejected, which took `tookMs` milliseconds. What one sender sent is cut into sixteen. */
  addRejected(creates: readonly WaitingCreate<Caller>[], tookMs: number): void {
    for (const create of creates) create.maxPart = Math.ceil(creates.length / 16);
    this.add(creates, tookMs < slowRejectionMs ? 2 : 16);
  }

  /** Adds the creates of a batch, split by sender: small senders and large ones, or `count` equal parts. */
  add(creates: readonly WaitingCreate<Caller>[], count = 2): void {
    if (creates.length === 0) return;
    const groups = groupsOf(creates);
    const [sender, ofSender] = groups[0]!;
    if (groups.length === 1) return void this.#putBack(this.#lineOf(sender), ofSender);
    const average = creates.length / groups.length;
    // If all have sent as many, half of them.
    const small = groups.findIndex(([, group]) => group.length >= average) || groups.length >> 1;
    const parts = count > 2 ? cut(groups, count) : [groups.slice(0, small), groups.slice(small)];
    for (const part of parts) {
      const [[last, largest]] = part.slice(-1) as [(typeof part)[0]];
      // The large sender alone: its new creates wait with it.
      if (part.length === 1 && part !== parts[0]) this.#putBack(this.#lineOf(last), largest);
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
    // Others that wait need as much time as it took, because it may wait for its lock again.
    const at = now + Math.max(this.isEmpty ? 0 : tookMs, retryPause(create.retries));
    this.#lines.set(key, { creates: [...creates], isNewestTurn: false, at, tookMs });
  }

  /** Takes a new create if it must not share a batch with others: its id was rolled back alone, or its sender is suspected. */
  claim(create: WaitingCreate<Caller>): boolean {
    if (this.#join(create)) return true;
    const line = this.#lines.get(senderOf(create));
    line?.creates.push(create);
    return line !== undefined;
  }

  /** Takes a create whose id was rolled back alone: its row may be locked. */
  #join(create: WaitingCreate<Caller>): boolean {
    const line = this.#lines.get(create.plant.id);
    if (!line || line.creates[0]?.namespace !== create.namespace) return false;
    return line.creates.push(create) > 0;
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
        const timeoutAt = firstCall(line.creates) + this.timeoutMs;
        // An attempt that timed out would leave its outcome unknown.
        if (timeoutAt > now && timeoutAt < now + 1.5 * line.tookMs) line.at = timeoutAt;
      }
      if (line.at > now) continue;
      // To the end: the next turn is the next line's.
      this.#lines.delete(key);
      line.isNewestTurn = !line.isNewestTurn;
      const part = this.#nextPart(line).filter((create) => !this.#join(create));
      const creates = take(part);
      this.#putBack(line, part);
      if (line.creates.length > 0) this.#lines.set(key, line);
      if (creates.length > 0) return creates;
    }
    return [];
  }

  /** Those at one end of a line that can share a batch. */
  #nextPart({ creates, isNewestTurn, tookMs }: Line<Caller>): WaitingCreate<Caller>[] {
    if (tookMs > 0) return creates.splice(0);
    const at = (i: number) => creates.at(isNewestTurn ? -1 - i : i);
    const limit = at(0)?.maxPart ?? this.maxBatch;
    let count = 1;
    while (count < limit && at(count)?.maxPart === at(0)?.maxPart && at(count)) count++;
    return creates.splice(isNewestTurn ? -count : 0, count);
  }

  /** Puts creates back to the end of the line that they were taken from. */
  #putBack({ creates: line, isNewestTurn }: Line<Caller>, creates: readonly WaitingCreate<Caller>[]): void {
    line.splice(isNewestTurn ? line.length : 0, 0, ...creates);
  }

  clear(): void {
    this.#mixed.length = 0;
    this.#lines.clear();
  }

  #lineOf(sender: unknown): Line<Caller> {
    const line = this.#lines.get(sender) ?? { creates: [], isNewestTurn: true, at: 0, tookMs: 0 };
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
