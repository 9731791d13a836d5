import { ownWords } from '../../../src/for-storages.js';
import { RolledBack } from '../../../src/index.js';
import type { TableSpec } from './table.js';

/** The database, or a look at its table, rejected the rows: nothing was stored, and the connection is as before. */
export class Rejection extends RolledBack {}

/** The cause of the rejection of every create, until somebody does what it says. */
export class SetupError extends Error {
  override readonly name = 'SetupError';

  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    ownWords(this);
  }
}

/**
 * Returns the error of every create until somebody does what it says.
 *
 * @param why in words of plant-store, and names of the database; what somebody else says is the cause
 */
export function unusable(spec: TableSpec, why: string, cause?: unknown): Rejection {
  return new Rejection(
    'rejected',
    new SetupError(`plant-store cannot use the table ${spec.name}: ${why}`, { cause }),
  );
}

/**
 * Returns the error of a call that stores no plant, such as `check`: the database's own, or the sentence of a setup error, without the
 * `RolledBack` (of which `Rejection` is one) that says what becomes of a plant.
 */
export const reasonOf = (error: unknown): unknown => (error instanceof RolledBack ? error.cause : error);

/** What is wrong with a table that is not there. */
export function missingTable({ isPlain, schema }: TableSpec): string {
  return `it does not exist. ${isPlain ? `Call storage.createTable(), or run: ${schema}` : migrate}`;
}

/** What to do about a table with columns of the app, whose types only the app knows. */
export const migrate = 'Write a migration from what schemaOf returns, and edit the types';

/** What is wrong with a table of which `ON CONFLICT`, or a duplicate key, could mean another column. */
export const missingIndex = ({ key }: TableSpec) => `it needs a unique index of exactly (${key.join(', ')})`;

/** What creates the index of a table that may have it. */
export const createIndex = ({ name, key }: TableSpec) =>
  `Run: CREATE UNIQUE INDEX plants_key ON ${name} (${key.join(', ')})`;

/** What is wrong with a column of the app that every create leaves without a value. */
export function unfilledColumn(column: string): string {
  return `its column ${column} takes no null and has no default: every create leaves it empty. Give it a default, or its value by the option columns: { ${column}: () => ... }`;
}

/**
 * Returns the columns of the first unique index of which the key has more columns than it: there an id would be unique beyond
 * its namespace, and the second tenant's create of an id would be rejected.
 *
 * @param indexes the columns of each unique index
 * @param key those of the namespace, and the id
 */
export function narrowIndexOf(
  indexes: readonly (readonly string[])[],
  key: readonly string[],
): readonly string[] | undefined {
  return indexes.find(
    (columns) => columns.length < key.length && columns.every((column) => key.includes(column)),
  );
}

/** Whether one of these unique indexes has exactly the columns of the key, in whatever order. */
export function hasIndexOf(indexes: readonly (readonly string[])[], key: readonly string[]): boolean {
  return indexes.some(
    (columns) => columns.length === key.length && columns.every((column) => key.includes(column)),
  );
}
