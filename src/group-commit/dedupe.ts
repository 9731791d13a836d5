import { noDuplicates, type WaitingCreate } from './waiting-create.js';

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
