import { type CreateOutcome, type NewPlant, StorageBusy } from '../../src/index.js';
import { duplicateKey, type MysqlError, meaningOf } from './_mysql-errors.js';
import { type MysqlConnection, type MysqlPool, type MysqlStatement, poolOf } from './_mysql-pool.js';
import {
  assumed,
  columnsIn,
  dialect,
  lookAt,
  type MysqlColumn,
  type MysqlSql,
  sent,
  sqlOf,
} from './_mysql-table.js';
import { type ColumnValue, members, type Row } from './_rows.js';
import { OpenTransaction, type Server, ServerTable } from './_server.js';
import { type SqlOptions, type SqlStorage, sqlStorage } from './_sql.js';
import { Table, type TableOptions } from './_table.js';

export type { ColumnValue, MysqlConnection, MysqlPool, MysqlStatement };

/** The options of `mysqlStorage`. */
export type MysqlOptions<Caller = unknown> = SqlOptions<Caller>;

/** What `mysqlStorage` returns. */
export type MysqlStorage<Caller = unknown> = SqlStorage<Caller>;

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf();

/**
 * Returns the table of a storage with these options, in SQL, for a migration. Columns of your own are `VARCHAR(255)`:
 * edit the types.
 *
 * @throws {TypeError} if an option is invalid
 *
 * @example
 * ```ts
 * const sql = schemaOf({ table: 'garden.plants', namespace: { tenant: () => '' } });
 * ```
 */
export function schemaOf(options: TableOptions<never> = {}): string {
  return new Table(dialect, options).schema;
}

/**
 * Stores plants in MariaDB, MySQL, TiDB or Vitess through your pool, which it neither configures nor closes. The pool's
 * connections must autocommit and use utf8mb4, which are the defaults of server and driver.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import { createPool } from 'mysql2/promise';
 *
 * const pool = createPool({ uri: 'mysql://user:password@localhost/garden', connectTimeout: 5_000 });
 * const storage = mysqlStorage(pool);
 * await storage.createTable();
 * const handle = createPlantStore(storage, acceptTokens('secret'));
 * ```
 */
export function mysqlStorage<Caller = unknown>(
  pool: MysqlPool,
  options: MysqlOptions<Caller> = {},
): MysqlStorage<Caller> {
  // A callback pool hands its connections to a parameter.
  if (typeof pool?.getConnection !== 'function' || pool.getConnection.length > 0) {
    throw new TypeError('mysqlStorage needs a mysql2/promise pool: pass pool.promise()');
  }
  const table = new Table(dialect, options);
  const server: Server<MysqlConnection, MysqlColumn, MysqlSql> = {
    pool: poolOf(pool),
    meaningOf,
    async look(connection) {
      const [name, database] = (options.table ?? 'plants').split('.').reverse();
      return columnsIn(table, await execute(connection, lookAt, [database ?? null, name!, name!]));
    },
    assumed,
    sqlOf: (columns) => sqlOf(table, columns),
    insert,
    async select(connection, { find }, key) {
      const [row] = await execute(connection, find, key.map(sent));
      return row && Object.fromEntries(members.slice(1).map((member, i) => [member, row[i]]));
    },
    createTable: (connection) => execute(connection, table.schema),
  };
  return sqlStorage(new ServerTable(table, server, options), options);
}

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
async function insert(
  connection: MysqlConnection,
  sql: MysqlSql,
  plants: readonly NewPlant[],
  rows: readonly Row[],
): Promise<CreateOutcome[]> {
  if (rows.length === 0) return [];
  try {
    await execute(connection, sql.insert(rows.length), rows.flat().map(sent), rows.length === 1);
    return rows.map(() => 'created');
  } catch (error) {
    if ((error as MysqlError).errno !== duplicateKey) throw error;
    // Whether the app has a transaction open, whose rows it can still roll back: a SELECT does not show that.
    await execute(connection, 'DO 0');
    const keys = rows.flatMap((row) => row.slice(0, sql.keyLength)).map(sent);
    const stored = await execute(connection, sql.stored(rows.length), keys, rows.length === 1);
    // Another unique index was violated, or by two plants of this batch.
    if (stored.length === 0) throw error;
    const taken = new Set(stored.map(([n]) => Number(n)));
    const isFree = (_: unknown, n: number) => !taken.has(n);
    const outcomes = await insert(connection, sql, plants.filter(isFree), rows.filter(isFree));
    return rows.map((_, n) => (taken.has(n) ? 'taken' : outcomes.shift()!));
  }
}

/** Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES. */
async function execute(
  connection: MysqlConnection,
  sql: string,
  values: MysqlStatement['values'] = [],
  isKept = true,
): Promise<(string | null)[][]> {
  // Every setting of the pool that changes rows is set again here, because what a statement says wins.
  const typeCast: MysqlStatement['typeCast'] = (_field, next) => next();
  const statement = { sql, values, rowsAsArray: true, nestTables: false, typeCast };
  const answer = await connection.execute(statement).catch((error: MysqlError) => {
    if (error.sqlState) return error;
    throw error;
  });
  // Servers limit prepared statements (max_prepared_stmt_count), and each batch size is one: drop it.
  if (!isKept) connection.unprepare(statement);
  if (!Array.isArray(answer)) throw answer;
  const [result] = answer;
  if (Array.isArray(result)) return result;
  if ((result.serverStatus & inTransaction) === 0) return [];
  // What was inserted would be lost or stored with that transaction.
  await connection.execute({ ...statement, sql: 'ROLLBACK', values: [] });
  if (result.serverStatus & autocommit) throw new OpenTransaction();
  throw new StorageBusy("autocommit is off: the pool's connections must autocommit");
}

// Of the status that the server sends with a result.
const inTransaction = 1;
const autocommit = 2;
