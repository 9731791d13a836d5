import { header } from '../http.js';
import type { NewPlant, Whole } from '../plant/plant.js';
import { Context, isDisconnected } from '../request/context.js';
import { StorageBusy, type StorageContext } from '../storage.js';
import { unavailable } from './create-many.js';

type Outcome = 'created' | 'taken';

/** What a create needs from its queue. */
export interface CreateOwner<Caller> {
  readonly now: () => number;
  /** Called once: when the create is settled and no call holds it. */
  onRelease(create: WaitingCreate<Caller>): void;
}

/** One call of `create` in a group commit, until it settles. */
export class WaitingCreate<Caller> {
  readonly calledAt: number;
  readonly plant: Whole<NewPlant>;
  /** Counted once: the count that is released must be the count that was reserved. */
  readonly textLength: number;
  isSettled = false;
  /** Whether a `createMany` call still holds it, aborted or not. */
  isInCall = false;
  // Declared, not defined: most creates need none of these, and each costs 1 % of a create.
  /** Later creates of the same id in its batch: not sent, and settled after this one. */
  declare duplicates: WaitingCreate<Caller>[] | undefined;
  /** Why the outcome of an earlier create of its id is unknown, if it is. */
  declare unknown: unknown;
  /** The last error with which the database rolled it back. */
  declare cause: unknown;
  /** How often the database rolled it back alone, so that it is retried. */
  declare retries: number | undefined;
  /** Who sent it, once it was asked. */
  declare sender: unknown;
  /** Whether it counts in its sender's share of the queue. */
  declare isShared: boolean | undefined;
  /** At most so many creates of its sender share its next batch, because one that it was in was rejected. */
  declare maxPart: number | undefined;
  /** To be run in its own call. */
  declare tasks: (() => void)[] | undefined;
  readonly #owner: CreateOwner<Caller>;
  #outcome: Outcome | undefined;
  #error: unknown;
  #wake: (() => void) | undefined;

  /** @param namespace what its id is unique within */
  constructor(
    plant: NewPlant,
    readonly context: StorageContext<Caller>,
    readonly namespace: unknown,
    owner: CreateOwner<Caller>,
  ) {
    this.#owner = owner;
    this.calledAt = owner.now();
    this.plant = copyOf(plant);
    this.textLength = textLengthOf(this.plant);
  }

  /**
   * Returns its outcome when it is settled, and until then runs its tasks. Called in its own call, where each promise that
   * it waits for must be made: on Workers, a promise continues in the request that made it.
   */
  outcome(): Outcome | Promise<Outcome> {
    for (let task = this.tasks?.shift(); task; task = this.tasks?.shift()) task();
    if (!this.isSettled) {
      // Not an async function, which would cost a sixth of the memory of a create.
      const waking = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      return waking.then(() => this.outcome());
    }
    if (this.#outcome) return this.#outcome;
    throw this.#error;
  }

  /** Runs a task in its own call: in its AsyncLocalStorage and, on Workers, in its request. Not if that has ended. */
  run(task: () => void): void {
    if (this.tasks) this.tasks.push(task);
    else this.tasks = [task];
    this.#wake?.();
  }

  /** Settles it once. Its id is stored now, so its duplicates are `taken`. */
  settle(outcome: Outcome): void {
    if (!this.isSettled) this.#outcome = outcome;
    this.#onSettled();
    for (const duplicate of this.duplicates ?? []) duplicate.settle('taken');
  }

  /** Rejects it, unless it is settled. */
  fail(error: unknown): void {
    if (!this.isSettled) this.#error = error;
    this.#onSettled();
  }

  /** Rejects it because it was not stored. If an earlier create of its id may be stored, that must not read as "nothing". */
  refuse(busy: StorageBusy): void {
    this.fail(this.unknown ?? busy);
  }

  /** Rejects it because it timed out before it was sent, or after the database rolled it back. */
  expire(): void {
    this.refuse(this.cause === undefined ? new StorageBusy(notSent) : unavailable(this.cause));
  }

  /** Rejects it if its client disconnected, or if its request has timed out. */
  failIfDisconnected(): void {
    try {
      // A script that calls `create` directly may pass no context.
      if (!this.context || !isAborted(this.context)) return;
      const { reason } = this.context.signal;
      this.refuse(new StorageBusy('the client disconnected before its plant was sent', { cause: reason }));
    } catch (error) {
      this.fail(error); // A getter of a script's own context threw.
    }
  }

  /** Called when a `createMany` call that held it has settled. */
  leaveCall(): void {
    if (this.isInCall && this.isSettled) this.#owner.onRelease(this);
    this.isInCall = false;
  }

  #onSettled(): void {
    if (!this.isSettled && !this.isInCall) this.#owner.onRelease(this);
    this.isSettled = true;
    this.#wake?.();
  }
}

/** Reads each member once: a getter of a script's own plant could throw later, in the midst of a batch. */
function copyOf({ id, name, tag }: NewPlant): Whole<NewPlant> {
  if (typeof id !== 'bigint' || typeof name !== 'string' || typeof (tag ?? '') !== 'string') {
    throw new TypeError(
      'create needs a plant: a bigint id, a string name and, if there is one, a string tag',
    );
  }
  // `tag` is always an own property: one on `Object.prototype` must not be read.
  return { id, name, tag: tag ?? undefined };
}

/** How many characters the text of a plant has, in all its members. */
function textLengthOf(plant: Whole<NewPlant>): number {
  let length = 0;
  // Not `Object.values`, whose array costs a twentieth of a create.
  for (const name in plant) {
    const member = plant[name as keyof NewPlant];
    if (typeof member === 'string') length += member.length;
  }
  return length;
}

/** The creates of a batch to send, sorted by id. A later create of an id within its namespace is a duplicate of the first. */
export function dedupe<Caller>(batch: readonly WaitingCreate<Caller>[]): readonly WaitingCreate<Caller>[] {
  if (batch.length === 1 && !batch[0]?.duplicates) return batch;
  // By sorting, not with a Map: a growing Map keeps its old tables, and so garbage, alive in V8.
  const firsts: WaitingCreate<Caller>[] = [];
  for (const create of [...batch].sort(byId)) {
    const { plant, namespace } = create;
    if (create.duplicates) create.duplicates = undefined;
    let last = firsts.length - 1;
    while (firsts[last]?.plant.id === plant.id && firsts[last]?.namespace !== namespace) last--;
    const first = firsts[last];
    if (first?.plant.id !== plant.id) firsts.push(create);
    else if (first.duplicates) first.duplicates.push(create);
    else first.duplicates = [create];
  }
  return firsts;
}

/** Orders creates by id: ids are sorted in each call, so that two instances cannot deadlock. */
export function byId<Caller>(
  { plant: a }: WaitingCreate<Caller>,
  { plant: b }: WaitingCreate<Caller>,
): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

export function isOpen({ isSettled }: WaitingCreate<unknown>): boolean {
  return !isSettled;
}

/** When the oldest of the creates that are not settled was called. */
export function firstCall(creates: Iterable<WaitingCreate<unknown>>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { calledAt, isSettled } of creates) if (!isSettled && calledAt < first) first = calledAt;
  return first;
}

/** Who sent it: the Authorization text, or what a script passes as `caller`, or `null`. Reading headers costs: only if needed. */
export function senderOf(create: WaitingCreate<unknown>): unknown {
  if (create.sender === undefined) create.sender = readSender(create);
  return create.sender;
}

function readSender({ context }: WaitingCreate<unknown>): unknown {
  try {
    return String(header(context.request.headers, 'authorization') ?? '') || context.caller || null;
  } catch {
    return null; // A script's own context, or none.
  }
}

/** Whether a context's signal has aborted. On Node it is not created for that, which would cost a third of a request. */
function isAborted(context: StorageContext<unknown>): boolean {
  try {
    if (context instanceof Context) return context.isExpired() || isDisconnected(context.request);
  } catch {
    // A Proxy has no private fields, and may override `signal`: ask that instead.
  }
  return context.signal?.aborted === true;
}

const notSent = 'the plant waited in the queue until its timeout, and was not sent';
