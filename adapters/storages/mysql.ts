import { type CreateOutcome, groupCommit, type NewPlant } from '../../src/index.js';
import { type MysqlError, meaningOf, numbers } from './_mysql-errors.js';
import {
  type Connections,
  onConnection,
  quote,
  type SqlOptions,
  type SqlStorage,
  splitOptions,
  within,
} from './_sql.js';

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
export interface MysqlOptions extends SqlOptions {
  /** The table, with its database in front or not: `plants`, `garden.plants`. Each part is quoted. Default: `plants`. */
  readonly table?: string | undefined;
}

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
  const { table: name, timeoutMs, groupOptions } = splitOptions(options);
  const table = quote(name, '`', 'database');
  const connections: Connections<MysqlConnection> = {
    connect: () => pool.getConnection(),
    release,
    meaningOf,
  };
  const read = (statement: MysqlStatement) =>
    within(timeoutMs, (call) =>
      onConnection(connections, call, (connection) => execute(connection, statement)),
    );

  return {
    ...groupCommit((plants: readonly NewPlant[], _contexts, call) => {
      const insertAll = plants.some(({ id }) => id === 0n) ? insertWithZero : insertFree;
      return onConnection(connections, call, (connection) => insertAll(connection, table, plants));
    }, groupOptions),
    async find(id) {
      const [row] = await read(select(table, 'name, tag', [id]));
      if (!row) return undefined;
      const [name, tag] = row as [string, string | null];
      return { id, name, tag: tag ?? undefined };
    },
    async createTable() {
      await read(statement(schemaOf(table), []));
    },
  };
}

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does not
 * say which row was new.
 */
async function insertFree(
  connection: MysqlConnection,
  table: string,
  plants: readonly NewPlant[],
): Promise<CreateOutcome[]> {
  const taken = new Set<bigint>();
  for (;;) {
    const free = plants.filter(({ id }) => !taken.has(id));
    if (free.length === 0) break;
    try {
      await execute(connection, insert(table, free));
      break;
    } catch (error) {
      if ((error as MysqlError).errno !== numbers.duplicateKey) throw error;
      const ids = free.map(({ id }) => id);
      // A column with ZEROFILL has leading zeros.
      for (const [id] of await execute(connection, select(table, 'CAST(id AS CHAR)', ids)))
        taken.add(BigInt(id!));
      // Another unique index was violated.
      if (!ids.some((id) => taken.has(id))) throw error;
    }
  }
  return plants.map(({ id }) => (taken.has(id) ? 'taken' : 'created'));
}

/** On an AUTO_INCREMENT column MySQL takes 0 for "the next number", unless the SQL mode says otherwise. */
async function insertWithZero(
  connection: MysqlConnection,
  table: string,
  plants: readonly NewPlant[],
): Promise<CreateOutcome[]> {
  const [row] = await execute(connection, statement('SELECT @@SESSION.sql_mode', []));
  const mode = row![0]!;
  const setMode = (value: string) => execute(connection, statement('SET SESSION sql_mode = ?', [value]));
  await setMode(`${mode},NO_AUTO_VALUE_ON_ZERO`);
  try {
    return await insertFree(connection, table, plants);
  } finally {
    await setMode(mode);
  }
}

function insert(table: string, plants: readonly NewPlant[]): MysqlStatement {
  return statement(
    `INSERT INTO ${table} (id, name, tag) VALUES ${list('(?, ?, ?)', plants.length)}`,
    plants.flatMap(({ id, name, tag }) => [String(id), name, tag ?? null]),
  );
}

/** MySQL compares BIGINT with text as doubles, so that 2^53 equals 2^53+1: cast both ways. */
function select(table: string, columns: string, ids: readonly bigint[]): MysqlStatement {
  return statement(
    `SELECT ${columns} FROM ${table} WHERE id IN (${list('CAST(? AS SIGNED)', ids.length)})`,
    ids.map(String),
  );
}

/** After a server error the connection can be reused, except for 1153, after which the server hangs up. */
function release(connection: MysqlConnection, error?: unknown): void {
  const { errno, sqlState } = (error ?? {}) as MysqlError;
  if (error && (!sqlState || errno === numbers.packetTooLarge)) connection.destroy();
  else connection.release();
}

/** Every setting of the pool that changes rows is set again here, because what a statement says wins. */
function statement(sql: string, values: (string | null)[]): MysqlStatement {
  return { sql, values, rowsAsArray: true, nestTables: false, typeCast: (_field, next) => next() };
}

function list(item: string, length: number): string {
  return Array.from({ length }, () => item).join(', ');
}

/** Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES. */
async function execute(connection: MysqlConnection, statement: MysqlStatement): Promise<(string | null)[][]> {
  const answer = await connection.execute(statement).catch((error: MysqlError) => {
    if (error.sqlState) return error;
    throw error;
  });
  // Servers limit prepared statements (max_prepared_stmt_count), and each batch size is one: drop it.
  if (statement.values.length > 3) connection.unprepare(statement);
  if (!Array.isArray(answer)) throw answer;
  const [result] = answer;
  if (Array.isArray(result)) return result;
  // Without autocommit the INSERT would be lost with the connection.
  if (result.serverStatus & inTransaction)
    throw new Error('autocommit is off: the connections of the pool must commit');
  return [];
}

const inTransaction = 1;
