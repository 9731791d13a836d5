import { Context, WithSignal } from '../context.js';
import type { PlantRequest } from '../http.js';
import type { NewPlant } from '../plant/plant.js';
import type { StorageContext } from '../storage.js';

/** One call of `create` in a group commit, from its entry to its answer. */
export class Create<Caller> {
  isAnswered = false;
  /** Whether a call of `createMany` has it, also one that was given up. */
  isInCall = false;
  /** Later creates of the same id in its batch: not sent, and answered after this one. */
  duplicates: Create<Caller>[] | undefined;

  /**
   * @param namespace what its id is unique within
   * @param calledAt by the clock of its queue
   * @param resolve of a promise, as is `reject`: of several answers only the first counts
   * @param onLeave called once: when it is answered and no call has it
   */
  constructor(
    readonly plant: NewPlant,
    readonly context: StorageContext<Caller>,
    readonly namespace: unknown,
    readonly calledAt: number,
    readonly resolve: (outcome: 'created' | 'taken') => void,
    readonly reject: (error: unknown) => void,
    readonly onLeave: (create: Create<Caller>) => void,
  ) {}

  /** The length of its text. */
  get text(): number {
    return this.plant.name.length + (this.plant.tag?.length ?? 0);
  }

  /** Answers it, unless it is answered. A plant of its id is stored now, so that its duplicates are `taken`. */
  done(outcome: 'created' | 'taken'): void {
    this.resolve(outcome);
    this.#onAnswer();
    for (const duplicate of this.duplicates ?? []) duplicate.done('taken');
  }

  /** Answers it with an error, unless it is answered. */
  fail(error: unknown): void {
    this.reject(error);
    this.#onAnswer();
  }

  /** Answers it if its client has gone. */
  failIfGone(): void {
    try {
      // A script that calls `create` directly may pass no context.
      if (this.context && isAborted(this.context)) this.fail(this.context.signal.reason);
    } catch (error) {
      this.fail(error); // A getter of a script's own context threw.
    }
  }

  leaveCall(): void {
    this.isInCall = false;
    if (this.isAnswered) this.onLeave(this);
  }

  #onAnswer(): void {
    if (!this.isAnswered && !this.isInCall) this.onLeave(this);
    this.isAnswered = true;
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

/** The creates of a batch to send, sorted by id. What comes again within its namespace is a duplicate of the first. */
export function firstsOf<Caller>(batch: readonly Create<Caller>[]): Create<Caller>[] {
  // Found by sorting, not by a Map: a growing Map keeps its old tables, and so garbage, alive in V8.
  const firsts: Create<Caller>[] = [];
  for (const create of [...batch].sort(byId)) {
    const { plant, namespace } = create;
    let last = firsts.length - 1;
    while (firsts[last]?.plant.id === plant.id && firsts[last]?.namespace !== namespace) last--;
    const first = firsts[last];
    if (first?.plant.id !== plant.id) firsts.push(create);
    else if (first.duplicates) first.duplicates.push(create);
    else first.duplicates = [create];
  }
  return firsts;
}

function byId<Caller>({ plant: a }: Create<Caller>, { plant: b }: Create<Caller>): number {
  return Number(a.id > b.id) - Number(a.id < b.id);
}

/** Whether a context's signal has fired. On Node it is not made for that, which would cost a third of a request. */
function isAborted(context: StorageContext<unknown>): boolean {
  try {
    if (context instanceof Context) return context.isExpired() || hasGone(context.request);
  } catch {
    // These methods throw on a proxy of their object, which may have another signal.
  }
  return context.signal?.aborted === true;
}

function hasGone(request: PlantRequest): boolean {
  const known = request instanceof WithSignal ? request.isAborted?.() : undefined;
  return known ?? request.signal?.aborted === true;
}
