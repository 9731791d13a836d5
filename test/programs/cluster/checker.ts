/** A create of one creator, and its outcome. */
export interface Told {
  readonly id: string;
  /** No other create uses this name. */
  readonly name: string;
  /** `refused` is a 503 that says that nothing was stored; `unknown` is every other 5xx. */
  readonly outcome: 'created' | 'taken' | 'refused' | 'unknown';
}

/** What a database server holds: `id` to `name`. */
export type Holdings = ReadonlyMap<string, string>;

/**
 * Where the servers that survived contradict the outcomes that the creators got.
 *
 * @returns one sentence a contradiction; empty when all promises were kept
 */
export function faultsIn(told: readonly Told[], servers: readonly Holdings[]): string[] {
  return [
    ...twoWinners(told),
    ...servers.flatMap((held, i) => faultsOf(told, held, i)),
    ...differences(servers),
  ];
}

function twoWinners(told: readonly Told[]): string[] {
  const winners = new Map<string, string>();
  const faults: string[] = [];
  for (const { id, name, outcome } of told) {
    if (outcome !== 'created') continue;
    const other = winners.get(id);
    if (other !== undefined) faults.push(`two winners: ${id} was won by ${other} and by ${name}`);
    winners.set(id, name);
  }
  return faults;
}

function faultsOf(told: readonly Told[], held: Holdings, server: number): string[] {
  const faults: string[] = [];
  const asked = new Set(told.map(({ id, name }) => `${id} ${name}`));
  for (const { id, name, outcome } of told) {
    const stored = held.get(id);
    if (outcome === 'created' && stored === undefined)
      faults.push(`lost: server ${server} lacks ${id} of ${name}`);
    if (outcome === 'created' && stored !== undefined && stored !== name) {
      faults.push(`overwritten: server ${server} has ${id} of ${name} as ${stored}`);
    }
    if (outcome === 'taken' && stored === undefined) {
      faults.push(`taken by nobody: server ${server} lacks ${id}, but ${name} got taken for it`);
    }
    if (outcome === 'taken' && stored === name)
      faults.push(`taken by itself: ${name} has ${id} and got taken`);
    if (outcome === 'refused' && stored === name)
      faults.push(`refused, yet stored: server ${server} has ${id} of ${name}`);
  }
  for (const [id, name] of held) {
    if (!asked.has(`${id} ${name}`)) faults.push(`invented: server ${server} has ${id} of ${name}`);
  }
  return faults;
}

/** Servers of one cluster hold the same, unknown outcomes too. */
function differences([first, ...others]: readonly Holdings[]): string[] {
  const faults: string[] = [];
  for (const [i, other] of others.entries()) {
    for (const id of new Set([...(first as Holdings).keys(), ...other.keys()])) {
      const [a, b] = [(first as Holdings).get(id), other.get(id)];
      if (a !== b) faults.push(`different: ${id} is ${a} on server 0 and ${b} on server ${i + 1}`);
    }
  }
  return faults;
}
