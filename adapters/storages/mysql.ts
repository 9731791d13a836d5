import { groupCommitDefaults } from '../../src/group-commit.js';
import { type CreateOutcome, groupCommit, type NewPlant, RolledBack } from '../../src/index.js';
import { classified, type Meaning, quote, type SqlOptions, type SqlStorage } from './_sql.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  values: (string | null)[];
  rowsAsArray: boolean;
  nestTables: boolean;
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
 * Keeps plants in MariaDB, MySQL, TiDB or Vitess, many creates a statement. The pool stays yours; its connections
 * have to commit by themselves and to speak utf8mb4, which are the defaults of server and driver.
 *
 * @throws {TypeError} that names a bad option
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
  const { table: name = 'plants', ...groupOptions } = options;
  const { timeoutMs = groupCommitDefaults.timeoutMs } = groupOptions;
  const table = quote(name, '`', 'database');
  const insert = (plants: readonly NewPlant[]) =>
    statement(
      `INSERT INTO ${table} (id, name, tag) VALUES ${list('(?, ?, ?)', plants.length)}`,
      plants.flatMap(({ id, name, tag }) => [String(id), name, tag ?? null]),
    );
  // MySQL compares BIGINT with text as doubles, so that 2^53 equals 2^53+1: cast both ways.
  const select = (columns: string, ids: readonly bigint[]) =>
    statement(
      `SELECT ${columns} FROM ${table} WHERE id IN (${list('CAST(? AS SIGNED)', ids.length)})`,
      ids.map(String),
    );
  /**
   * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY
   * does not say which row was new.
   */
  async function insertFree(
    connection: MysqlConnection,
    plants: readonly NewPlant[],
  ): Promise<CreateOutcome[]> {
    const taken = new Set<string>();
    for (;;) {
      const free = plants.filter(({ id }) => !taken.has(String(id)));
      if (free.length === 0) break;
      try {
        await execute(connection, insert(free));
        break;
      } catch (error) {
        if ((error as MysqlError).errno !== numbers.duplicateKey) throw error;
        const ids = free.map(({ id }) => id);
        const stored = await execute(connection, select('CAST(id AS CHAR)', ids));
        // Another unique index was violated.
        if (stored.length === 0) throw error;
        for (const [id] of stored) taken.add(id!);
      }
    }
    return plants.map(({ id }) => (taken.has(String(id)) ? 'taken' : 'created'));
  }

  const read = (statement: MysqlStatement) =>
    withConnection(pool, timeoutMs, (connection) => execute(connection, statement)).catch((error) => {
      throw error instanceof RolledBack ? error.cause : error;
    });

  return {
    ...groupCommit(
      (plants) => withConnection(pool, timeoutMs, (connection) => insertFree(connection, plants)),
      groupOptions,
    ),
    async find(id) {
      const [row] = await read(select('name, tag', [id]));
      if (!row) return undefined;
      const [name, tag] = row as [string, string | null];
      return { id, name, tag: tag ?? undefined };
    },
    async createTable() {
      await read(statement(schemaOf(table), []));
    },
  };
}

/** An error of the server (`errno`, `sqlState`) or of the connection (`fatal`). */
interface MysqlError {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly fatal?: boolean;
}

/** The server's error numbers that matter here, by what MariaDB, MySQL and TiDB call them. */
const numbers = {
  duplicateKey: 1062,
  tooManyConnections: 1040,
  noQuorum: 1047,
  packetTooLarge: 1153,
  lockWaitTimeout: 1205,
  deadlock: 1213,
  readOnly: 1290,
  characterNotInCharset: 1366,
  checkViolated: 3819,
  tidbRetryable: 8022,
  tidbWriteConflict: 9007,
} as const;

const meanings = new Map<number | undefined, Meaning>([
  [numbers.tooManyConnections, 'transient'],
  [numbers.noQuorum, 'transient'],
  [numbers.lockWaitTimeout, 'transient'],
  [numbers.deadlock, 'transient'],
  [numbers.readOnly, 'transient'],
  [numbers.tidbRetryable, 'transient'],
  [numbers.tidbWriteConflict, 'transient'],
  [numbers.packetTooLarge, 'plantAtFault'],
  [numbers.characterNotInCharset, 'plantAtFault'],
  [numbers.checkViolated, 'plantAtFault'],
]);

/** What the server says it rolled back. Everything else is unknown, also 1180: the commit itself failed. */
function meaningOf({ errno, sqlState = '' }: MysqlError): Meaning {
  return meanings.get(errno) ?? (/^2[23]/.test(sqlState) ? 'plantAtFault' : 'unknown');
}

/** Runs `work` on a connection, within `timeoutMs`: a frozen server would keep the connection for ever. */
async function withConnection<T>(
  pool: MysqlPool,
  timeoutMs: number,
  work: (connection: MysqlConnection) => Promise<T>,
): Promise<T> {
  const connection = await pool.getConnection().catch((error: MysqlError) => {
    // Nothing has been sent yet, so a failed connection is safe to retry.
    throw classified(error, error.fatal && !error.sqlState ? 'transient' : meaningOf(error));
  });
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      connection.destroy();
      reject(new Error(`MySQL did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
    work(connection).then(
      (result) => {
        clearTimeout(timer);
        connection.release();
        resolve(result);
      },
      (error: MysqlError) => {
        clearTimeout(timer);
        // After a server error the connection can be reused; after any other it may hold half an answer.
        if (error.sqlState) connection.release();
        else connection.destroy();
        reject(classified(error, meaningOf(error)));
      },
    );
  });
}

function statement(sql: string, values: (string | null)[]): MysqlStatement {
  return { sql, values, rowsAsArray: true, nestTables: false };
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
