import type { Call } from './call.js';
import type { WaitingCreate } from './waiting-create.js';

interface Bounds {
  readonly maxQueued: number;
  readonly maxQueuedText: number;
  readonly timeoutMs: number;
}

/** The creates that are queued or in flight, and what they hold of the queue's bounds. */
export class Pending<Caller> {
  /**
   * In the order of their calls, which is also that of their expiry: the limit becomes shorter only when the circuit opens, and then
   * all earlier creates have failed. Not a Set: its outgrown tables keep young creates alive, and tripled the time of GC.
   */
  #creates: WaitingCreate<Caller>[] = [];
  #text = 0;
  /** Calls that were aborted, and whose `createMany` may still hold its plants. */
  readonly #aborted = new Set<Call<Caller>>();

  constructor(readonly bounds: Bounds) {}

  get creates(): readonly WaitingCreate<Caller>[] {
    return this.#creates;
  }

  get count(): number {
    return this.#creates.length;
  }

  /** The characters of their names and tags. */
  get text(): number {
    return this.#text;
  }

  /** Adds a create, unless the queue is full. Returns whether it did. */
  add(create: WaitingCreate<Caller>, now: number): boolean {
    const held = this.#heldByAborted(now);
    const count = this.#creates.length + held.count;
    const text = this.#text + held.text + create.textLength;
    const { maxQueued, maxQueuedText } = this.bounds;
    // A single create may be larger than the bound.
    if (count > 0 && (count >= maxQueued || text > maxQueuedText)) return false;
    this.#creates.push(create);
    this.#text += create.textLength;
    return true;
  }

  /** Frees the places of creates that are settled. */
  release(): void {
    this.#creates = this.#creates.filter(({ isSettled }) => !isSettled);
    this.#text = this.#creates.reduce((sum, { textLength }) => sum + textLength, 0);
  }

  /** Keeps the places of an aborted call until its `createMany` settles. */
  hold(call: Call<Caller>): void {
    this.#aborted.add(call);
  }

  #heldByAborted(now: number): { count: number; text: number } {
    const held = { count: 0, text: 0 };
    for (const call of this.#aborted) {
      // One that never settles must not count for ever.
      const isForgotten = call.hasSettled || call.endedAt + this.bounds.timeoutMs <= now;
      if (isForgotten) {
        this.#aborted.delete(call);
        continue;
      }
      held.count += call.creates.length;
      for (const { textLength } of call.creates) held.text += textLength;
    }
    return held;
  }
}
