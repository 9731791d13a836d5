import { Suspects, type Take } from './suspects.js';
import { firstCall, isOpen, type WaitingCreate } from './waiting-create.js';

/** All creates that wait. Good ones and suspects take turns, in equal time, because a suspect may wait for a lock. */
export class Turns<Caller> {
  /** In the order of their calls. */
  readonly good: WaitingCreate<Caller>[] = [];
  readonly suspects: Suspects<Caller>;
  /** Whether the last turn was one of suspects. */
  isSuspects = false;
  #restUntil = 0;

  constructor(timeoutMs: number) {
    this.suspects = new Suspects(timeoutMs);
  }

  get oldest(): WaitingCreate<Caller> | undefined {
    return this.good.find(isOpen);
  }

  /** Another that waits; of the good ones the last, because it has the longest to go. */
  lastBut(leader: WaitingCreate<Caller>): WaitingCreate<Caller> | undefined {
    const { good } = this;
    for (let i = good.length - 1; i >= 0; i--) if (isOpen(good[i]!) && good[i] !== leader) return good[i];
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
