import { groupCommitDefaults } from '../../src/group-commit.js';
import {
  type CreateOutcome,
  type GroupCommitOptions,
  groupCommit,
  type NewPlant,
  type PlantStorage,
  RolledBack,
} from '../../src/index.js';

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
export interface MysqlOptions extends GroupCommitOptions {
  /** The table, with its database in front or not: `plants`, `garden.plants`. Each part is quoted. Default: `plants`. */
  readonly table?: string | undefined;
}

/** A storage, and how to make its table. */
export interface MysqlStorage extends PlantStorage {
  /** Makes the table unless there is one. Safe while other instances do the same, and can be called again. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

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
  const table = quote(name);
  const insert = (plants: readonly NewPlant[]) =>
    statement(
      `INSERT INTO ${table} (id, name, tag) VALUES ${list('(?, ?, ?)', plants.length)}`,
      plants.flatMap(({ id, name, tag }) => [String(id), name, tag ?? null]),
    );
  // A BIGINT beside a text is compared as a double, to which 2^53 and 2^53+1 are one: so ids are cast both ways.
  const select = (columns: string, ids: readonly bigint[]) =>
    statement(
      `SELECT ${columns} FROM ${table} WHERE id IN (${list('CAST(? AS SIGNED)', ids.length)})`,
      ids.map(String),
    );
  /**
   * Plain INSERTs, each of them all or nothing: IGNORE truncates what does not fit, and on Galera tells two instances
   * that they won the same id; ON DUPLICATE KEY cannot tell old from new.
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
        if ((error as MysqlError).errno !== duplicateKey) throw error;
        const ids = free.map(({ id }) => id);
        const stored = await execute(connection, select('CAST(id AS CHAR)', ids));
        // Another unique index than the id's was hit.
        if (stored.length === 0) throw error;
        for (const [id] of stored) taken.add(id!);
      }
    }
    return plants.map(({ id }) => (taken.has(String(id)) ? 'taken' : 'created'));
  }

  const read = (statement: MysqlStatement) =>
    use(pool, timeoutMs, (connection) => execute(connection, statement)).catch((error) => {
      throw error instanceof RolledBack ? error.cause : error;
    });

  return {
    ...groupCommit(
      (plants) => use(pool, timeoutMs, (connection) => insertFree(connection, plants)),
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

const duplicateKey = 1062;

/** A deadlock, also Galera's; no quorum; lock wait over; read only; TiDB's write conflicts. */
const passes = new Set([1213, 1047, 1205, 1290, 1040, 8022, 9007]);

/** A statement larger than `max_allowed_packet`; a text that the column's character set lacks; a CHECK. */
const isOfOnePlant = new Set([1153, 1366, 3819]);

/** What the server says it rolled back; anything else, and 1180 (the commit itself failed) too, is unknown. */
function classified(error: MysqlError): unknown {
  if (passes.has(error.errno!)) return new RolledBack('together', error);
  if (isOfOnePlant.has(error.errno!) || /^2[23]/.test(error.sqlState ?? ''))
    return new RolledBack('apart', error);
  return error;
}

/** Does `work` with a connection, for so long at most: a frozen server would keep it for ever. */
async function use<T>(
  pool: MysqlPool,
  timeoutMs: number,
  work: (connection: MysqlConnection) => Promise<T>,
): Promise<T> {
  const connection = await pool.getConnection().catch((error: MysqlError) => {
    // Nothing was sent yet, so a connection refused or lost here leaves nothing unknown.
    throw error.fatal && !error.sqlState ? new RolledBack('together', error) : classified(error);
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
        // After an answer of the server the connection is good; after anything else it may hold half of one.
        if (error.sqlState) connection.release();
        else connection.destroy();
        reject(classified(error));
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
  // A server keeps few prepared statements (max_prepared_stmt_count), and each size of a batch is one.
  if (statement.values.length > 3) connection.unprepare(statement);
  if (!Array.isArray(answer)) throw answer;
  const [result] = answer;
  if (Array.isArray(result)) return result;
  // Such an INSERT would be gone with its connection.
  if (result.serverStatus & inTransaction)
    throw new Error('autocommit is off: the connections of the pool must commit');
  return [];
}

const inTransaction = 1;

function quote(name: string): string {
  const parts = typeof name === 'string' ? name.split('.') : [];
  if (parts.length < 1 || parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    throw new TypeError('table must be a name, or a database and a name with a dot between');
  }
  return parts.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
}
