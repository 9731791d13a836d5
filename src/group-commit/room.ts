import { StorageBusy } from '../storage.js';

/** The bounds of a queue: how many creates it holds, and how much text they have together. */
export class Room {
  #count = 0;
  #text = 0;

  get count(): number {
    return this.#count;
  }

  constructor(
    readonly maxCount: number,
    readonly maxText: number,
  ) {}

  /** @throws {StorageBusy} if the queue is full; a single create may be larger than the bound */
  reserve(textLength: number): void {
    const isFull = this.#count >= this.maxCount || this.#text + textLength > this.maxText;
    if (isFull && this.#count > 0) throw new StorageBusy();
    this.#count++;
    this.#text += textLength;
  }

  release(textLength: number): void {
    this.#count--;
    this.#text -= textLength;
  }
}
