import { type BatchReport, maxBatchText } from './options.js';
import { noDuplicates, type WaitingCreate } from './waiting-create.js';

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
export function cutIntoParts<Caller>(
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

/**
 * The creates of a call to send: the first of each id within its namespace. The others become its duplicates. They are sorted
 * by id and namespace, so that two instances cannot deadlock.
 *
 * By sorting, not with a Map: a growing Map keeps its old tables, and so garbage, alive in V8.
 */
export function dedupe<Caller>(creates: readonly WaitingCreate<Caller>[]): WaitingCreate<Caller>[] {
  const sorted = [...creates].sort(compare);
  const firsts: WaitingCreate<Caller>[] = [];
  for (const create of sorted) {
    // An earlier call may have left some.
    create.duplicates = noDuplicates;
    const first = firstOf(create, firsts);
    if (first) first.duplicates = [...first.duplicates, create];
    else firsts.push(create);
  }
  return firsts;
}

/** The create of the same id and namespace among those that sort before it. */
function firstOf<Caller>(
  create: WaitingCreate<Caller>,
  firsts: readonly WaitingCreate<Caller>[],
): WaitingCreate<Caller> | undefined {
  for (let i = firsts.length - 1; i >= 0; i--) {
    const first = firsts[i]!;
    if (first.plant.id !== create.plant.id) return undefined;
    if (first.namespace === create.namespace) return first;
  }
  return undefined;
}

function compare(a: WaitingCreate<unknown>, b: WaitingCreate<unknown>): number {
  return order(a.plant.id, b.plant.id) || order(sortableNamespace(a), sortableNamespace(b));
}

function order<T extends bigint | string>(a: T, b: T): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

/** Its namespace if that is a text, as in the SQL storages. */
function sortableNamespace({ namespace }: WaitingCreate<unknown>): string {
  return typeof namespace === 'string' ? namespace : '';
}

/**
 * The part of a create's time that a call should take at most. An eighth: a create waits for the call in flight and for its
 * own, a quarter of its time, so that some is left for a retry; and a call stays within half of the time even if it takes
 * four times as long for each plant as the last one.
 */
const callShare = 1 / 8;

/**
 * How much longer than expected a call may take, in parts of the expected time: the outcome of a create that times out while
 * it is sent is unknown, so a create is not sent if its call may take half as long again as the last one for each plant.
 */
const margin = 1.5;

/** The most of its time that a create has to have left. */
const longestShare = 1 / 2;

/** The most plants of a call before one has settled: with 60 ms a row, as many as an eighth of 10 s allows. */
const firstPlants = 16;

/**
 * How many plants a call may have, by the time that the last one took: otherwise a trigger that takes 60 ms a row would let
 * batch after batch expire. The time of a call is taken to grow with its plants. Where it does not, because each commit takes
 * long, the next call is larger, since the last one took less for each plant.
 */
export class Pace {
  readonly #callMs: number;
  readonly #timeoutMs: number;
  #msPerPlant: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#callMs = callShare * timeoutMs;
    this.#msPerPlant = this.#callMs / firstPlants;
  }

  /** The most plants that the next call may have. */
  get maxPlants(): number {
    return Math.max(1, Math.floor(this.#callMs / this.#msPerPlant));
  }

  /** How much of its time a create must have left for a call of so many plants. */
  reserveMs(plants: number): number {
    // A lone plant may take longer than a call should, and is sent all the same while more than half of its time is left: nothing smaller can be.
    return Math.min(margin * plants * this.#msPerPlant, longestShare * this.#timeoutMs);
  }

  onEnd(plants: number, ms: number, end: BatchReport['end']): void {
    // A call that ended early with nothing stored shows nothing: it may have been at its first plant.
    if (end === 'settled' || ms > this.#callMs) this.#msPerPlant = ms / plants;
  }
}
