/** One attempt of a client to create a plant, and what it was told. */
export interface Attempt {
  readonly id: string;
  /** Of one plant: no other create uses this name, and each retry does. */
  readonly name: string;
  /**
   * `refused` is a response that says that nothing was stored; `unknown` is every other 5xx; `unsettled` is an attempt that had no
   * response when the run ended.
   */
  readonly outcome: 'created' | 'taken' | 'refused' | 'unknown' | 'unsettled';
  /** When it settled, in milliseconds since 1970. */
  readonly at: number;
  /** How long it took, in milliseconds. */
  readonly took: number;
  /** Whether its client retries until it gets the 200, or learns that the id is another plant's. */
  readonly isRetried?: boolean | undefined;
}

/** What a machine stores: `id` to `name`. */
export type Holdings = ReadonlyMap<string, string>;

/** What the clients of a run were told, and what its machines store once they are all back. */
export interface History {
  readonly attempts: readonly Attempt[];
  readonly machines: readonly Holdings[];
  /** How long an attempt may take; one whose client retries may also look for the stored plant. In milliseconds. */
  readonly limits?: { readonly once: number; readonly retried: number } | undefined;
  /** When the fault ended, in milliseconds since 1970, and how long after it the first 200 may come. */
  readonly recovery?: { readonly from: number; readonly withinMs: number } | undefined;
}

/** The ways to break a promise. */
export type Kind =
  | 'lost'
  | 'overwritten'
  | 'two winners'
  | 'taken by nobody'
  | 'taken by itself'
  | 'refused, yet stored'
  | 'invented'
  | 'machines differ'
  | 'settled too late'
  | 'retried in vain'
  | 'recovered too late';

/** A broken promise. */
export interface Violation {
  readonly kind: Kind;
  /** Of the plant, if it is about one. */
  readonly id?: string;
  readonly text: string;
}

/** Returns where the history contradicts what plant-store promises; nothing if all promises were kept. */
export function violationsIn(history: History): Violation[] {
  const { attempts, machines } = history;
  const plants = plantsOf(attempts);
  return [
    ...twoWinners(attempts),
    ...machines.flatMap((held, machine) => [
      ...contradictions(plants, held, machine),
      ...retriedInVain(plants, held, machine),
      ...invented(plants, held, machine),
    ]),
    ...differences(machines),
    ...settledTooLate(history),
    ...recoveredTooLate(history),
  ];
}

/** All attempts of one plant, in the order in which they settled. */
interface Plant {
  readonly id: string;
  readonly name: string;
  readonly attempts: readonly Attempt[];
}

function plantsOf(attempts: readonly Attempt[]): Map<string, Plant> {
  const plants = new Map<string, Plant & { attempts: Attempt[] }>();
  for (const attempt of attempts) {
    const { id, name } = attempt;
    const key = keyOf(id, name);
    const plant = plants.get(key);
    if (plant) plant.attempts.push(attempt);
    else plants.set(key, { id, name, attempts: [attempt] });
  }
  for (const plant of plants.values()) plant.attempts.sort((a, b) => a.at - b.at);
  return plants;
}

const keyOf = (id: string, name: string) => `${id} ${name}`;

function twoWinners(attempts: readonly Attempt[]): Violation[] {
  const winners = new Map<string, string>();
  const found: Violation[] = [];
  for (const { id, name, outcome } of attempts) {
    if (outcome !== 'created') continue;
    const other = winners.get(id);
    if (other !== undefined && other !== name)
      found.push({ kind: 'two winners', id, text: `${id} was won by ${other} and by ${name}` });
    winners.set(id, name);
  }
  return found;
}

/** Where what a machine holds contradicts what the clients of a plant were told. */
function contradictions(plants: ReadonlyMap<string, Plant>, held: Holdings, machine: number): Violation[] {
  const found: Violation[] = [];
  for (const { id, name, attempts } of plants.values()) {
    const stored = held.get(id);
    const got = (outcome: Attempt['outcome']) => attempts.some((attempt) => attempt.outcome === outcome);
    const report = (kind: Kind, text: string) =>
      found.push({ kind, id, text: `${text} on machine ${machine}` });
    if (got('created') && stored === undefined) report('lost', `${id} of ${name} is not there`);
    if (got('created') && stored !== undefined && stored !== name)
      report('overwritten', `${id} of ${name} is ${stored}`);
    if (got('taken') && stored === undefined)
      report('taken by nobody', `${name} got id_taken, and ${id} is not there`);
    if (got('taken') && stored === name) report('taken by itself', `${name} got id_taken, and has ${id}`);
    // An earlier attempt of the same plant may have stored it.
    const mayBeStored = got('created') || got('unknown') || got('unsettled') || got('taken');
    if (!mayBeStored && stored === name) report('refused, yet stored', `${id} of ${name} is there`);
  }
  return found;
}

/** A client that retries ends with one 200 and its plant, unless the id is another plant's. */
function retriedInVain(plants: ReadonlyMap<string, Plant>, held: Holdings, machine: number): Violation[] {
  const found: Violation[] = [];
  for (const { id, name, attempts } of plants.values()) {
    if (!attempts.some(({ isRetried }) => isRetried)) continue;
    const count = attempts.filter(({ outcome }) => outcome === 'created').length;
    const stored = held.get(id);
    const expected = stored === name ? 1 : 0;
    const end = attempts.at(-1)!.outcome;
    if (stored !== undefined && count === expected && end === (expected ? 'created' : 'taken')) continue;
    const told = attempts.map(({ outcome }) => outcome).join(', ');
    const text = `${name} was told ${told}, and ${id} is ${stored} on machine ${machine}`;
    found.push({ kind: 'retried in vain', id, text });
  }
  return found;
}

function invented(plants: ReadonlyMap<string, Plant>, held: Holdings, machine: number): Violation[] {
  return [...held]
    .filter(([id, name]) => !plants.has(keyOf(id, name)))
    .map(([id, name]) => ({
      kind: 'invented',
      id,
      text: `nobody sent ${id} of ${name} on machine ${machine}`,
    }));
}

/** Machines of one cluster hold the same, what had an unknown outcome too. */
function differences([first, ...others]: readonly Holdings[]): Violation[] {
  const found: Violation[] = [];
  for (const [i, other] of others.entries()) {
    for (const id of new Set([...(first as Holdings).keys(), ...other.keys()])) {
      const [a, b] = [(first as Holdings).get(id), other.get(id)];
      const text = `${id} is ${a} on machine 0 and ${b} on machine ${i + 1}`;
      if (a !== b) found.push({ kind: 'machines differ', id, text });
    }
  }
  return found;
}

function settledTooLate({ attempts, limits }: History): Violation[] {
  if (!limits) return [];
  return attempts
    .filter(
      ({ outcome, took, isRetried }) =>
        outcome === 'unsettled' || took > (isRetried ? limits.retried : limits.once),
    )
    .map(({ id, name, outcome, took }) => ({
      kind: 'settled too late',
      id,
      text: `${id} of ${name} was ${outcome} after ${Math.round(took)} ms`,
    }));
}

function recoveredTooLate({ attempts, recovery }: History): Violation[] {
  if (!recovery) return [];
  const { from, withinMs } = recovery;
  const isInTime = attempts.some(
    ({ outcome, at }) => outcome === 'created' && at >= from && at <= from + withinMs,
  );
  const text = `no 200 within ${withinMs} ms after the fault`;
  return isInTime ? [] : [{ kind: 'recovered too late', text }];
}
