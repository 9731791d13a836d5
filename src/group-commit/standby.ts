import type { Clock } from '../timers.js';
import { Alarm } from './alarm.js';
import type { Turns } from './turns.js';
import type { WaitingCreate } from './waiting-create.js';

/**
 * On Workers, the code of a request that has ended never runs again. So another create takes over from a leader that has
 * not begun for so many milliseconds, or whose alarm is that much too late: one that enters, or the standby.
 */
export const graceMs = 1_000;
export const lateMs = 10;

/**
 * A create that waits behind the leader, with a timer of its own call: it takes over even if no other create enters. Only
 * one has such a timer, which stays set until no create waits.
 */
export class Standby<Caller> {
  /** By when the leader has to act. */
  actsUntil = Number.POSITIVE_INFINITY;
  #create: WaitingCreate<Caller> | undefined;
  #setAt = 0;
  readonly #clock: Clock;
  readonly #alarm: Alarm;

  constructor(clock: Clock, takeOver: (standby: WaitingCreate<Caller>) => void) {
    this.#clock = clock;
    this.#alarm = new Alarm(clock, () => {
      const create = this.#create!;
      if (clock.now() >= this.actsUntil) takeOver(create);
      this.#set(create);
    });
  }

  /** Called in the call of a create that enters behind the leader. It relieves a standby whose own request may have ended. */
  onCreate(create: WaitingCreate<Caller>): void {
    const hasOther = this.#create && !this.#create.isSettled;
    if (!hasOther || create.calledAt > this.#setAt + lateMs) this.#set(create);
  }

  /** Makes another create that waits the standby, in its own call, if the standby is settled or leads. */
  onLeader(leader: WaitingCreate<Caller> | undefined, turns: Turns<Caller>): void {
    const old = this.#create;
    if (leader && old && !old.isSettled && old !== leader) return;
    if (old) this.#alarm.clear();
    const create = leader && turns.lastBut(leader);
    this.#create = create;
    create?.run(() => {
      if (this.#create === create && !create.isSettled) this.#set(create);
    });
  }

  /** It looks again within `graceMs`, because the leader may be another by then. */
  #set(create: WaitingCreate<Caller>): void {
    this.#create = create;
    this.#setAt = this.#clock.now();
    this.#alarm.set(Math.min(this.actsUntil, this.#setAt + graceMs));
  }
}
