import { maxBatchText } from './options.js';
import type { WaitingCreate } from './waiting-create.js';

/** Creates that gather until it is their turn. */
export class Batch<Caller> {
  readonly #creates: WaitingCreate<Caller>[] = [];
  #text = 0;
  #isClosed = false;

  /** Adds a create, unless the batch is full or closed. Returns whether it did. */
  join(create: WaitingCreate<Caller>, maxBatch: number): boolean {
    if (this.#isClosed || this.#isFullFor(create, maxBatch)) return false;
    this.#creates.push(create);
    this.#text += create.textLength;
    return true;
  }

  /** Ends the gathering, and returns what has gathered. */
  close(): readonly WaitingCreate<Caller>[] {
    this.#isClosed = true;
    return this.#creates;
  }

  #isFullFor({ textLength }: WaitingCreate<Caller>, maxBatch: number): boolean {
    // A plant whose text alone is longer than a batch may be has a batch of its own.
    if (this.#creates.length === 0) return false;
    return this.#creates.length >= maxBatch || this.#text + textLength > maxBatchText;
  }
}

/** Cuts creates into parts of `size`; the last may be smaller. */
export function cut<Caller>(
  creates: readonly WaitingCreate<Caller>[],
  size: number,
): WaitingCreate<Caller>[][] {
  const parts: WaitingCreate<Caller>[][] = [];
  for (let start = 0; start < creates.length; start += size) parts.push(creates.slice(start, start + size));
  return parts;
}

/**
 * The size of the parts of a rejected call: the largest power of four below `count`. If each create is at fault, n creates take n
 * calls of one, n/4 of four, n/16 of sixteen and so on: 4/3 n, and with the rounding at most 1.4 n + 6.
 */
export function partSize(count: number): number {
  let size = 1;
  while (size * 4 < count) size *= 4;
  return size;
}
