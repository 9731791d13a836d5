import type { CreateOutcome, NewPlant, Whole } from '../../src/index.js';

/** The definition of each column, in the SQL of one database: what a plant's table is created and accessed with. */
export type Columns = Record<keyof NewPlant, string>;

/** The plant in a row of its columns. The id is the one that was looked for: drivers round numbers beyond 2^53. */
export function plantOf(id: bigint, row: Record<string, unknown> | undefined): Whole<NewPlant> | undefined {
  return row && { id, name: row.name as string, tag: (row.tag as string | null) ?? undefined };
}

/** A value as it travels. An absent member is null. */
export function textOf(value: NewPlant[keyof NewPlant]): string | null {
  return value === undefined ? null : String(value);
}

export function membersOf(columns: Columns): (keyof NewPlant)[] {
  return Object.keys(columns) as (keyof NewPlant)[];
}

/** The columns as `CREATE TABLE` lists them. */
export function definitionsOf(columns: Columns): string {
  return membersOf(columns)
    .map((member) => `${member} ${columns[member]}`)
    .join(', ');
}

/** An error of every create: the table would change or lose plants without an error. */
export class UnusableTable extends Error {
  /** @param table quoted */
  constructor(table: string, why: string) {
    super(`plant-store cannot use the table ${table}: ${why}`);
  }
}

/** A column of a table, as far as it decides what it can hold. */
export interface Column {
  readonly name: string;
  /** As the database calls it. */
  readonly type: string;
  /** Whether it holds each value of its member exactly, or rejects it. */
  readonly isExact: boolean;
  /** The most characters that it holds. */
  readonly maxLength?: number | undefined;
}

/** @throws {UnusableTable} if a column would change the values that it is given */
export function checkColumns(table: string, columns: readonly Column[], defaults: Columns): void {
  const inexact = columns.find(({ isExact }) => !isExact);
  if (!inexact) return;
  const { name, type } = inexact;
  const better = defaults[name as keyof NewPlant].split(' ', 1);
  throw new UnusableTable(
    table,
    `its column ${name} is ${type}, which does not hold every ${name} exactly: use ${better}`,
  );
}

/** An error of one plant, as if the database had rejected it. */
export class TooLong extends Error {}

/**
 * Databases cut trailing spaces that exceed the length of a column, without an error.
 *
 * @throws {TooLong} if a value would be cut
 */
export function checkTrailingSpaces(
  table: string,
  columns: readonly Column[],
  plants: readonly NewPlant[],
): void {
  for (const { name, maxLength } of columns) {
    if (maxLength === undefined) continue;
    for (const plant of plants) {
      const value = plant[name as keyof NewPlant];
      if (typeof value === 'string' && value.endsWith(' ') && [...value].length > maxLength) {
        throw new TooLong(`too long for the column ${name} of the table ${table}`);
      }
    }
  }
}

/** A row of the batch that is stored: its place in the batch, and its key in the words of the database. */
export interface Stored {
  readonly n: number | string;
  readonly key: string;
}

/**
 * What became of each plant, by the keys that INSERT returned and by the rows of the batch that are stored. A plant that
 * is in neither gets an Error, because a trigger may drop rows silently, and `taken` would be untrue. Of plants that the
 * database takes for one, the first was created.
 */
export function outcomesOf(
  plants: readonly NewPlant[],
  created: readonly { readonly key: string }[],
  stored: readonly Stored[] = [],
): CreateOutcome[] {
  if (created.length === plants.length) return plants.map(() => 'created');
  const fresh = new Set(created.map(({ key }) => key));
  const keys = new Map(stored.map(({ n, key }) => [Number(n), key]));
  return plants.map(({ id }, i) => {
    const key = keys.get(i);
    if (key !== undefined) return fresh.delete(key) ? 'created' : 'taken';
    return new Error(`plant ${id} was neither inserted nor found: check the table's triggers and policies`);
  });
}
