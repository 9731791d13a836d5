import type { CreateOutcome, NewPlant, Whole } from '../../src/index.js';
import type { Row, Rows } from './_rows.js';
import type { Table } from './_table.js';

/** A column of a table, as far as it decides what it can hold. */
export interface Column {
  readonly name: string;
  /** As the database calls it. */
  readonly type: string;
  /** Whether it holds each id, name or tag exactly, or rejects it. */
  readonly isExact: boolean;
  /** The most characters that it holds. */
  readonly maxLength?: number | undefined;
}

/** The database, or a look at its table, rejected the rows: nothing was stored, and the connection is as before. */
export class Rejection extends Error {
  /** @param cause the database's error */
  constructor(override readonly cause: unknown) {
    super();
  }
}

/** An error of every create: the table would change or lose plants without an error. */
export class UnusableTable extends Error {
  /** @param table quoted */
  constructor(table: string, why: string) {
    super(`plant-store cannot use the table ${table}: ${why}`);
  }
}

/**
 * Returns the columns that were found in the order of the table's.
 *
 * @throws {UnusableTable} if one is missing, or would change the values that it is given
 */
export function inOrder<Found extends Column>(table: Table, found: readonly Found[]): Found[] {
  const { types } = table.dialect;
  return table.names.map((name) => {
    const column = found.find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (!column) throw new UnusableTable(table.name, `it has no column ${name}`);
    if (column.isExact || !Object.hasOwn(types, name)) return column;
    const better = types[name as keyof NewPlant].split(' ', 1);
    const why = `its column ${name} is ${column.type}, which does not hold every ${name} exactly: use ${better}`;
    throw new UnusableTable(table.name, why);
  });
}

/**
 * Databases cut trailing spaces that exceed the length of a column, without an error.
 *
 * @throws {Rejection} if a value would be cut
 */
export function checkTrailingSpaces(table: string, columns: readonly Column[], rows: Rows): void {
  for (const [i, { name, maxLength }] of columns.entries()) {
    if (maxLength === undefined) continue;
    const isCut = ({ [i]: value }: Row) =>
      typeof value === 'string' && value.endsWith(' ') && [...value].length > maxLength;
    if (rows.some(isCut))
      throw new Rejection(new Error(`too long for the column ${name} of the table ${table}`));
  }
}

/** The plant in a row. The id is the one that was looked for: drivers round numbers beyond 2^53. */
export function plantOf(id: bigint, row: Record<string, unknown> | undefined): Whole<NewPlant> | undefined {
  return row && { id, name: row.name as string, tag: (row.tag as string | null) ?? undefined };
}

/**
 * What became of each row, by the keys that INSERT returned and by the rows of the batch that are stored. A row that is
 * in neither gets an Error, because a trigger may drop rows silently, and `taken` would be untrue. Of rows that the
 * database takes for one, the first was created.
 *
 * @param created the `key` of each row that was inserted, in the words of the database
 * @param stored the place `n` of each row that is stored, and its `key`
 */
export function outcomesOf(
  rows: Rows,
  created: readonly Record<string, unknown>[],
  stored: readonly Record<string, unknown>[] = [],
): CreateOutcome[] {
  if (created.length === rows.length) return rows.map(() => 'created');
  const fresh = new Set(created.map(({ key }) => key));
  const keys = new Map(stored.map(({ n, key }) => [Number(n), key]));
  return rows.map((_, i) => {
    if (keys.has(i)) return fresh.delete(keys.get(i)) ? 'created' : 'taken';
    return new Error("the plant was neither inserted nor found: check the table's triggers and policies");
  });
}
