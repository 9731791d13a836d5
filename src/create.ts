import type { NewPlant } from './plant.js';
import type { StorageContext } from './storage.js';

/** One call of `create` in a group commit, from its entry to its answer. */
export class Create<Caller> {
  isAnswered = false;
  /** Whether it counts against the bounds of its queue: until it is answered and no call of `createMany` has it. */
  isHeld = true;
  /** When it has to be answered, by the clock of its queue. Not set before it has to wait, or is sent. */
  deadline: number | undefined;
  /** Later creates of the same id in its batch: not sent, and answered after this one. */
  duplicates: Create<Caller>[] | undefined;

  /**
   * @param text the length of its text
   * @param namespace what its id is unique within
   */
  constructor(
    readonly plant: NewPlant,
    readonly context: StorageContext<Caller>,
    readonly text: number,
    readonly namespace: unknown,
    readonly onDone: (outcome: 'created' | 'taken') => void,
    readonly onFail: (error: unknown) => void,
  ) {}

  /** Answers it, unless it is answered. */
  done(outcome: 'created' | 'taken'): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.onDone(outcome);
  }

  /** Answers it with an error, unless it is answered. */
  fail(error: unknown): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.onFail(error);
  }

  /** Answers it if its client has gone. */
  failIfGone(): void {
    if (this.isAnswered) return;
    try {
      // A script that calls `create` directly may pass no context.
      const signal = this.context?.signal;
      if (signal?.aborted) this.fail(signal.reason);
    } catch (error) {
      this.fail(error); // A getter of a script's own context threw.
    }
  }
}

/** Reads each member once: a getter of a script's own plant could throw later, in the midst of a batch. */
export function copyOf({ id, name, tag }: NewPlant): NewPlant {
  if (typeof id !== 'bigint' || typeof name !== 'string' || typeof (tag ?? '') !== 'string') {
    throw new TypeError(
      'create needs a plant: a bigint id, a string name and, if there is one, a string tag',
    );
  }
  // Also without a tag an own member: what an app adds to `Object.prototype` is no tag of this plant.
  return { id, name, tag: tag ?? undefined };
}

/** Sorts a batch by id, and makes duplicates of later creates of an id, so that each id comes once in its namespace. */
export function firstsOf<Caller>(batch: Create<Caller>[]): Create<Caller>[] {
  // Found by sorting, not by a Map: a growing Map keeps its old tables, and so garbage, alive in V8.
  const firsts: Create<Caller>[] = [];
  for (const create of batch.sort(byId)) {
    const first = firstOfId(firsts, create);
    if (first) {
      first.duplicates ??= [];
      first.duplicates.push(create);
    } else firsts.push(create);
  }
  return firsts;
}

/** The create of the same id and namespace, if there is one among creates that are sorted by id. */
function firstOfId<Caller>(
  firsts: readonly Create<Caller>[],
  { plant, namespace }: Create<Caller>,
): Create<Caller> | undefined {
  for (let i = firsts.length - 1; i >= 0 && firsts[i]!.plant.id === plant.id; i--) {
    if (firsts[i]!.namespace === namespace) return firsts[i];
  }
  return undefined;
}

function byId<Caller>({ plant: a }: Create<Caller>, { plant: b }: Create<Caller>): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
