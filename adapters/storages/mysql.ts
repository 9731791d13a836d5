import type { CreateOutcome, NewPlant } from '../../src/index.js';
import { duplicateKey, type MysqlError, meaningOf, packetTooLarge } from './_mysql-errors.js';
import {
  type Columns,
  definitionsOf,
  membersOf,
  quote,
  type Server,
  type SqlOptions,
  type SqlStorage,
  serverStorage,
  valuesOf,
} from './_sql.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  values: (string | null)[];
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** The part of a `mysql2/promise` connection that this storage uses. */
export interface MysqlConnection {
  execute(statement: MysqlStatement): Promise<readonly [unknown, unknown]>;
  unprepare(statement: MysqlStatement): unknown;
  release(): void;
  destroy(): void;
}

/** The part that this storage uses of a `mysql2/promise` pool, or of a pool cluster's namespace (`cluster.of('*', 'ORDER')`). */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** The options of `mysqlStorage`. */
export type MysqlOptions = SqlOptions;

/** What `mysqlStorage` returns. */
export type MysqlStorage = SqlStorage;

const text = 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const columns: Columns = { id: 'BIGINT PRIMARY KEY', name: `${text} NOT NULL`, tag: text };
const list = membersOf(columns).join(', ');

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf('`plants`');

function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (${definitionsOf(columns)}) ENGINE = InnoDB`;
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
 * const storage = mysqlStorage(createPool('mysql://user:password@localhost/garden'));
 * await storage.createTable();
 * const handle = createPlantStore(storage, acceptTokens('secret'));
 * ```
 */
export function mysqlStorage(pool: MysqlPool, options: MysqlOptions = {}): MysqlStorage {
  // A callback pool hands its connections to a parameter.
  if (typeof pool?.getConnection !== 'function' || pool.getConnection.length > 0) {
    throw new TypeError('mysqlStorage needs a mysql2/promise pool: pass pool.promise()');
  }
  const table = quote(options.table, '`', 'database');
  const server: Server<MysqlConnection> = {
    connect: () => pool.getConnection(),
    release,
    meaningOf,
    insert: (connection, plants) => insertAll(connection, table, plants),
    async select(connection, id) {
      const [row] = await select(connection, table, list, [id]);
      return row && Object.fromEntries(membersOf(columns).map((member, i) => [member, row[i]]));
    },
    createTable: (connection) => execute(connection, schemaOf(table)),
  };
  return serverStorage(server, options);
}

/** After a server error the connection can be reused, except for 1153, after which the server hangs up. */
function release(connection: MysqlConnection, error?: unknown): void {
  const { errno, sqlState } = (error ?? {}) as MysqlError;
  if (error && (!sqlState || errno === packetTooLarge)) connection.destroy();
  else connection.release();
}

type Insert = (
  connection: MysqlConnection,
  table: string,
  plants: readonly NewPlant[],
) => Promise<CreateOutcome[]>;

/** On an AUTO_INCREMENT column MySQL takes 0 for "the next number", unless the SQL mode says otherwise. */
const insertAll: Insert = async (connection, table, plants) => {
  if (plants.every(({ id }) => id !== 0n)) return insertFree(connection, table, plants);
  const [row] = await execute(connection, 'SELECT @@SESSION.sql_mode');
  const [mode] = row as [string];
  const setMode = (value: string) => execute(connection, 'SET SESSION sql_mode = ?', [value]);
  await setMode(`${mode},NO_AUTO_VALUE_ON_ZERO`);
  try {
    return await insertFree(connection, table, plants);
  } finally {
    await setMode(mode);
  }
};

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
const insertFree: Insert = async (connection, table, plants) => {
  if (plants.length === 0) return [];
  const ids = plants.map(({ id }) => String(id));
  const values = plants.flatMap((plant) => valuesOf(columns, plant));
  const row = `(${membersOf(columns)
    .map(() => '?')
    .join(', ')})`;
  try {
    const rows = plants.map(() => row).join();
    await execute(connection, `INSERT INTO ${table} (${list}) VALUES ${rows}`, values);
    return plants.map(() => 'created');
  } catch (error) {
    if ((error as MysqlError).errno !== duplicateKey) throw error;
    const rows = await select(connection, table, 'CAST(id AS CHAR)', ids);
    // Another unique index was violated.
    if (rows.length === 0) throw error;
    // A column with ZEROFILL has leading zeros.
    const taken = new Set(rows.map(([id]) => BigInt(id!)));
    const free = plants.filter(({ id }) => !taken.has(id));
    const outcomes = await insertFree(connection, table, free);
    return plants.map(({ id }) => (taken.has(id) ? 'taken' : outcomes.shift()!));
  }
};

/** MySQL compares BIGINT with text as doubles, so that 2^53 equals 2^53+1: cast both ways. */
function select(connection: MysqlConnection, table: string, what: string, ids: string[]) {
  const casts = ids.map(() => 'CAST(? AS SIGNED)').join();
  return execute(connection, `SELECT ${what} FROM ${table} WHERE id IN (${casts})`, ids);
}

/** Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES. */
async function execute(
  connection: MysqlConnection,
  sql: string,
  values: (string | null)[] = [],
): Promise<(string | null)[][]> {
  // Every setting of the pool that changes rows is set again here, because what a statement says wins.
  const typeCast: MysqlStatement['typeCast'] = (_field, next) => next();
  const statement = { sql, values, rowsAsArray: true, nestTables: false, typeCast };
  const answer = await connection.execute(statement).catch((error: MysqlError) => {
    if (error.sqlState) return error;
    throw error;
  });
  // Servers limit prepared statements (max_prepared_stmt_count), and each batch size is one: drop it.
  if (values.length > membersOf(columns).length) connection.unprepare(statement);
  if (!Array.isArray(answer)) throw answer;
  const [result] = answer;
  if (Array.isArray(result)) return result;
  // Without autocommit the INSERT would be lost with the connection.
  if (result.serverStatus & inTransaction)
    throw new Error("autocommit is off: the pool's connections must autocommit");
  return [];
}

const inTransaction = 1;
