import type { CreateOutcome, NewPlant } from '../../src/index.js';
import { duplicateKey, type MysqlError, meaningOf, packetTooLarge } from './_mysql-errors.js';
import { quote, type Server, type SqlOptions, type SqlStorage, serverStorage } from './_sql.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  values: (string | null)[];
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** What is used of a connection of `mysql2/promise`. */
export interface MysqlConnection {
  execute(statement: MysqlStatement): Promise<readonly [unknown, unknown]>;
  unprepare(statement: MysqlStatement): unknown;
  release(): void;
  destroy(): void;
}

/** What is used of a `mysql2/promise` pool, or of a namespace of its pool cluster (`cluster.of('*', 'ORDER')`). */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** The options of `mysqlStorage`. */
export type MysqlOptions = SqlOptions;

/** What `mysqlStorage` returns. */
export type MysqlStorage = SqlStorage;

/** The table, in SQL, to be made by a migration or by `createTable`. */
export const schema = schemaOf('`plants`');

function schemaOf(table: string): string {
  const text = 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
  return `CREATE TABLE IF NOT EXISTS ${table} (id BIGINT PRIMARY KEY, name ${text} NOT NULL, tag ${text}) ENGINE = InnoDB`;
}

/**
 * Keeps plants in MariaDB, MySQL, TiDB or Vitess, many creates per statement. The pool stays yours. Its connections
 * have to commit by themselves and to speak utf8mb4, which are the defaults of server and driver.
 *
 * @throws {TypeError} that names a bad argument or option
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
      const [row] = await select(connection, table, 'name, tag', [id]);
      return row && { name: row[0]!, tag: row[1]! };
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
  const values = plants.flatMap(({ name, tag }, i) => [ids[i]!, name, tag ?? null]);
  try {
    const list = plants.map(() => '(?, ?, ?)').join();
    await execute(connection, `INSERT INTO ${table} (id, name, tag) VALUES ${list}`, values);
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
function select(connection: MysqlConnection, table: string, columns: string, ids: string[]) {
  const list = ids.map(() => 'CAST(? AS SIGNED)').join();
  return execute(connection, `SELECT ${columns} FROM ${table} WHERE id IN (${list})`, ids);
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
  if (values.length > 3) connection.unprepare(statement);
  if (!Array.isArray(answer)) throw answer;
  const [result] = answer;
  if (Array.isArray(result)) return result;
  // Without autocommit the INSERT would be lost with the connection.
  if (result.serverStatus & inTransaction)
    throw new Error('autocommit is off: the connections of the pool must commit');
  return [];
}

const inTransaction = 1;
