import { Suspects, type Take } from './suspects.js';
import { firstCall, isOpen, senderOf, type WaitingCreate } from './waiting-create.js';

/** All creates that wait. Good ones and suspects take turns, in equal time, because a suspect may wait for a lock. */
export class Turns<Caller> {
  /** In the order of their calls. */
  readonly good: WaitingCreate<Caller>[] = [];
  readonly suspects: Suspects<Caller>;
  /** Whether the last turn was one of suspects. */
  isSuspects = false;
  #restUntil = 0;

  constructor(timeoutMs: number, maxBatch: number) {
    this.suspects = new Suspects(timeoutMs, maxBatch);
  }

  get oldest(): WaitingCreate<Caller> | undefined {
    return this.good.find(isOpen);
  }

  /** Another that waits; of the good ones the last, because it has the longest to go. */
  lastBut(leader: WaitingCreate<Caller>): WaitingCreate<Caller> | undefined {
    const { good } = this;
    for (let i = good.length - 1; i >= 0; i--) if (isOpen(good[i]!) && good[i] !== leader) return good[i];
    if (this.suspects.isEmpty) return undefined;
    for (const create of this.suspects) if (isOpen(create) && create !== leader) return create;
    return undefined;
  }

  /** When the next turn can be, if there are only suspects. */
  get suspectsAt(): number {
    return Math.max(this.#restUntil, this.suspects.readyAt);
  }

  /** When the first create that waits was called. */
  get firstCall(): number {
    const { calledAt = Number.POSITIVE_INFINITY } = this.oldest ?? {};
    return this.suspects.isEmpty ? calledAt : Math.min(calledAt, firstCall(this.suspects));
  }

  *[Symbol.iterator](): Generator<WaitingCreate<Caller>> {
    yield* this.good;
    yield* this.suspects;
  }

  /**
   * Takes the creates of the next turn.
   *
   * @param tookMs how long the last turn took
   */
  next(now: number, tookMs: number, take: Take<Caller>): readonly WaitingCreate<Caller>[] {
    if (!this.isSuspects && this.suspects.isEmpty) return take(this.good);
    const wereSuspects = this.isSuspects;
    const good = () => take(this.good);
    const suspects = () => (now < this.#restUntil ? [] : this.suspects.next(now, take));
    const others = wereSuspects ? good() : suspects();
    const isOthersTurn = others.length > 0;
    if (wereSuspects && isOthersTurn) this.#restUntil = now + tookMs;
    const creates = isOthersTurn ? others : wereSuspects ? suspects() : good();
    this.isSuspects = wereSuspects !== isOthersTurn && creates.length > 0;
    return creates;
  }

  /** Puts creates of the last turn back, which the database rolled back together. */
  putBack(creates: readonly WaitingCreate<Caller>[]): void {
    if (this.isSuspects) return void this.suspects.add(creates);
    const { calledAt: next = Number.POSITIVE_INFINITY } = this.good[0] ?? {};
    this.good.unshift(...creates);
    // One client's may be newer than what others still have in the queue. Otherwise one that took over stays first.
    if (creates.some(({ calledAt }) => calledAt > next)) this.good.sort((a, b) => a.calledAt - b.calledAt);
  }

  prefer(create: WaitingCreate<Caller>): void {
    const at = this.good.indexOf(create);
    if (at > 0) this.good.unshift(...this.good.splice(at, 1));
  }

  /** Rejects the creates that were called until `dueSince`. Returns one that the database has rolled back, if there is one. */
  expire(dueSince: number): WaitingCreate<Caller> | undefined {
    let lost: WaitingCreate<Caller> | undefined;
    for (const create of this) {
      if (create.isSettled || create.calledAt > dueSince) continue;
      if (create.cause !== undefined) lost = create;
      create.expire();
    }
    return lost;
  }

  clear(): void {
    this.good.length = 0;
    this.suspects.clear();
  }
}

/**
 * The first creates of each sender, then the second ones, and so on, at most `size` of each: so a client that fills the queue
 * delays another by no more than one create. If there are several senders, a quarter of that: a full batch takes the database
 * several times as long as the create of another would.
 */
export function inTurnsOfSenders<Caller>(
  list: readonly WaitingCreate<Caller>[],
  size: number,
): readonly WaitingCreate<Caller>[] {
  const counts = new Map<unknown, number>();
  const rounds: WaitingCreate<Caller>[][] = [];
  for (const create of list) {
    const sender = senderOf(create);
    const round = counts.get(sender) ?? 0;
    if (round === size) continue;
    counts.set(sender, round + 1);
    const ofRound = rounds[round];
    if (ofRound) ofRound.push(create);
    else rounds.push([create]);
  }
  return (counts.size > 1 ? rounds.slice(0, Math.ceil(size / 4)) : rounds).flat();
}

/** Removes from a list the first `count` items of an order of it. */
export function removeFirst<T>(list: T[], order: readonly T[], count: number): void {
  if (order === list) return void list.splice(0, count);
  const removed = new Set(order.slice(0, count));
  let kept = 0;
  for (const item of list) if (!removed.has(item)) list[kept++] = item;
  list.length = kept;
}
