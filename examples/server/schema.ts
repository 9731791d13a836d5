import { schemaOf as mysql } from 'plant-store/mysql';
import { schemaOf as postgres } from 'plant-store/postgres';
import { schemaOf as sqlite } from 'plant-store/sqlite';
import { CliError } from './cli-error.js';
import { described } from './printable.js';

interface TableOptions {
  readonly table: string | undefined;
  /** The column of a tenant. */
  readonly namespace: string | undefined;
}

type Schema = (options: {
  readonly table: string | undefined;
  readonly namespace: Readonly<Record<string, () => string>> | undefined;
}) => string;

/** The SQL of each database, by the names that `init` has for them, too. */
const schemas: Readonly<Record<string, Schema>> = { postgres, mysql, sqlite, turso: sqlite, d1: sqlite };

export const databases: readonly string[] = Object.keys(schemas);

/** @throws {Error} with one line if the database, or the name of the table or the column, is invalid */
export function schemaOf(
  database: string | undefined,
  { table, namespace }: Partial<TableOptions> = {},
): string {
  const of = database !== undefined && Object.hasOwn(schemas, database) && schemas[database];
  if (!of) throw new CliError(`schema requires one of ${databases.join(', ')}, got ${described(database)}`);
  try {
    return of({ table, namespace: namespace === undefined ? undefined : { [namespace]: () => '' } });
  } catch (error) {
    // Thrown by plant-store: the name cannot be that of a table or a column.
    throw new CliError((error as Error).message);
  }
}
