import type { NewPlant, Whole } from '../plant/plant.js';
import { isNamed } from '../problems.js';
import { StorageBusy, type StorageContext } from '../storage.js';

type Outcome = 'created' | 'taken';

/** One call of `create` in a group commit, until it settles. */
export class WaitingCreate<Caller> {
  readonly plant: Whole<NewPlant>;
  readonly textLength: number;
  /** What its id is unique within. */
  namespace: unknown;
  expiresAt = 0;
  isSettled = false;
  // Declared, not defined: most creates need none of these, and each costs 1 % of a create.
  /** Later creates of the same id in its call: not sent, and settled after this one. */
  declare duplicates: WaitingCreate<Caller>[] | undefined;
  /** Why the outcome of an earlier create of its id is unknown, if it is. */
  declare unknown: unknown;
  /** The last error with which the database rolled it back. */
  declare cause: unknown;

  /** Reads each member once: a getter of a script's own plant could throw later, in the midst of a batch. */
  constructor(
    { id, name, tag }: NewPlant,
    readonly context: StorageContext<Caller>,
    readonly resolve: (outcome: Outcome) => void,
    readonly reject: (error: unknown) => void,
  ) {
    if (typeof id !== 'bigint' || typeof name !== 'string' || typeof (tag ?? '') !== 'string')
      throw new TypeError(noPlant);
    // `tag` is always an own property: one on `Object.prototype` must not be read.
    this.plant = { id, name, tag: tag ?? undefined };
    this.textLength = name.length + (tag ?? '').length;
  }

  /** Its id is stored now, so its duplicates are `taken`. */
  settle(outcome: Outcome): void {
    this.isSettled = true;
    this.resolve(outcome);
    for (const duplicate of this.duplicates ?? []) duplicate.settle('taken');
  }

  /** Rejects it, unless it is settled, as a promise does. If its plant may be stored, its duplicates remember why. */
  fail(error: unknown): void {
    this.reject(error);
    this.isSettled = true;
    if (!notStored.some((name) => isNamed(error, name)))
      for (const duplicate of this.duplicates ?? []) duplicate.unknown ??= error;
  }

  /**
   * Rejects it because it was not stored. If an earlier create of its id may be stored, that must not read as "nothing".
   *
   * @param cause what made the storage unavailable; `undefined` if the create was never sent
   */
  refuse(cause: unknown): void {
    this.fail(this.unknown ?? (cause === undefined ? new StorageBusy(notSent) : unavailable(cause)));
  }

  hasIdOf({ plant, namespace }: WaitingCreate<Caller>): boolean {
    return this.plant.id === plant.id && this.namespace === namespace;
  }
}

/** The error of a create that was not stored, because of `cause`. */
export function unavailable(cause: unknown): StorageBusy {
  return new StorageBusy('the storage is unavailable', { cause });
}

const noPlant = 'create needs a plant: a bigint id, a string name and, if there is one, a string tag';
const notSent = 'the plant waited in the queue until its timeout, and was not sent';

/** The errors which say that nothing was stored. */
const notStored = ['PlantRefused', 'RolledBack', 'StorageBusy'];

/** The creates of a call to send, sorted by id and namespace. A later create of an id within its namespace is a duplicate of the first. */
export function dedupe<Caller>(creates: readonly WaitingCreate<Caller>[]): readonly WaitingCreate<Caller>[] {
  if (creates.length === 1 && !creates[0]?.duplicates) return creates;
  // By sorting, not with a Map: a growing Map keeps its old tables, and so garbage, alive in V8.
  const firsts: WaitingCreate<Caller>[] = [];
  // Also so that two instances cannot deadlock.
  const sorted = [...creates].sort((a, b) => order(a.plant.id, b.plant.id) || order(spaceOf(a), spaceOf(b)));
  for (const create of sorted) {
    if (create.duplicates) create.duplicates = undefined;
    let last = firsts.length - 1;
    while (firsts[last]?.plant.id === create.plant.id && !firsts[last]?.hasIdOf(create)) last--;
    const first = firsts[last];
    if (!first?.hasIdOf(create)) firsts.push(create);
    else if (first.duplicates) first.duplicates.push(create);
    else first.duplicates = [create];
  }
  return firsts;
}

const order = <T extends bigint | string>(a: T, b: T) => (a < b ? -1 : Number(a > b));

/** Its namespace if that is a text, as in the SQL storages. */
const spaceOf = ({ namespace }: WaitingCreate<unknown>) => (typeof namespace === 'string' ? namespace : '');
