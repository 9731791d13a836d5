import { type CreateOutcome, StorageBusy } from '../../src/index.js';
import { duplicateKey, explain, type MysqlError } from './_mysql-errors.js';
import type { Rows, Value } from './_rows.js';
import { keepsPrepared, OpenTransaction, type TableServer } from './_server.js';
import { type Column, cutsSpaces, type Dialect, learn, type TableSpec, unusable } from './_table.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** The part of a `mysql2/promise` connection that this storage uses. */
export interface MysqlConnection {
  execute(
    statement: string | MysqlStatement,
    values: (string | Date | null)[],
  ): Promise<readonly [unknown, unknown]>;
  unprepare(statement: string | MysqlStatement): unknown;
  release(): void;
  destroy(): void;
}

/** The part that this storage uses of a `mysql2/promise` pool, or of a pool cluster's namespace (`cluster.of('*', 'ORDER')`). */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** A row; `n` of `stored` is a number. */
type Found = Record<string, string>;

const utf8 = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const text = `LONGTEXT ${utf8}`;
// Not CHAR, which loses trailing spaces, and not ENUM, which changes the case.
const texts = /^(varchar|(tiny|medium|long)?text)/;
export const dialect: Dialect = {
  mark: '`',
  container: 'database',
  types: { id: 'BIGINT PRIMARY KEY', name: `${text} NOT NULL`, tag: text },
  exact: {
    id: /^((tiny|small|medium|big)?int|decimal\(\d+,0\)|varchar|(tiny|medium|long)?text)/,
    name: texts,
    tag: texts,
    // Not ENUM and SET, which take a number for the place of a word.
    namespace: /^((tiny|small|medium|big)?int|decimal\(\d+,0\)|varchar|char|varbinary|uuid)/,
  },
  changes,
  sent,
  // Longer ones fit no index.
  text: `VARCHAR(255) ${utf8}`,
  ending: ' ENGINE = InnoDB',
};

/** The most bytes of the types that have no length: they lose trailing spaces beyond it, with a warning alone. */
const maxBytes: Record<string, number> = { tinytext: 255, text: 65_535, mediumtext: 16_777_215 };

function changes(type: string): ((text: string) => boolean) | undefined {
  const [, kind, words] = /^(enum|set)\((.*)\)$/.exec(type) ?? [];
  if (kind) {
    // The server takes a number for the place of a word, or for a sum of such places. It quotes the words like this.
    const isWord = (text: string) => `,${words},`.includes(`,'${text.replace(/['\\]/g, '$&$&')}',`);
    return (text) => !(kind === 'set' ? text.split(',').filter(Boolean) : [text]).every(isWord);
  }
  const bytes = maxBytes[type];
  return bytes
    ? (text) => text.endsWith(' ') && new TextEncoder().encode(text).length > bytes
    : cutsSpaces(type);
}

export function mysqlServer(pool: MysqlPool, spec: TableSpec): TableServer<MysqlConnection> {
  let sql = statementsOf(spec, []);
  const [last, database = null] = spec.given.split('.').reverse();
  return {
    connect: async () => pool.getConnection(),
    release: (connection, isReusable) => (isReusable ? connection.release() : connection.destroy()),
    explain: (error, wasSent) => explain(error, wasSent, last!),
    async look(connection) {
      const found = await execute(connection, rowsOf(lookAt), [database, last!, database, last!, last!]);
      const [first] = found;
      if (first && unsafe.test(first.settings!)) throw unusable(spec, `${needed} ${first.settings}`);
      const key = spec.names.slice(0, spec.key.length);
      const index = rowsOf(indexOf(key.length));
      // An INSERT does not say which index it relies on. A view shows none.
      if (first?.engine && !(await execute(connection, index, [database, first.table!, ...key]))[0])
        throw unusable(spec, spec.notUnique);
      const columns = found.filter(({ table }) => table === first!.table) as unknown as Column[];
      sql = statementsOf(spec, learn(spec, columns));
    },
    insert: (connection, rows) => insert(connection, sql, rows),
    async find(connection, key) {
      return (await execute(connection, sql.find, key.map(sent), true))[0];
    },
    createTable: (connection) => execute(connection, spec.schema),
  };
}

/**
 * Finds the engine and the columns of a table, by the names of its database and of itself, what the session does to texts,
 * and its isolation, which MySQL and MariaDB call by another name each. The exact name goes first. Each name is a parameter: the server then reads this table and no other.
 */
const lookAt = `SELECT t.TABLE_NAME AS 'table', t.ENGINE AS engine, COLUMN_NAME AS name, COLUMN_TYPE AS type,
CONCAT_WS(', ', t.ENGINE, TRANSACTIONS, @@character_set_client, @@sql_mode /*!50720 , @@transaction_isolation */ /*M! , @@tx_isolation */)
AS settings FROM information_schema.TABLES AS t JOIN information_schema.COLUMNS AS c ON c.TABLE_NAME = BINARY t.TABLE_NAME
LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ?
AND t.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND t.TABLE_NAME = ? ORDER BY t.TABLE_NAME = BINARY ? DESC`;

/** Finds a unique index of exactly `count` columns, and not of their beginnings alone. */
const indexOf = (count: number) => `SELECT INDEX_NAME FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? AND NON_UNIQUE = 0 GROUP BY INDEX_NAME
HAVING SUM(SUB_PART IS NULL AND COLUMN_NAME IN (${Array(count).fill('?')})) = ${count} AND COUNT(*) = ${count}`;

/**
 * Settings of a table and its session with which plants change or get lost. A failed INSERT of an engine without transactions
 * leaves rows behind. Another character set, or MariaDB's EMPTY_STRING_IS_NULL, which holds for parameters before a statement
 * can set another mode, changes texts. After a duplicate key the ids that are stored are asked for: READ UNCOMMITTED shows a
 * rival's, which may be rolled back.
 */
const unsafe = /, NO, |EMPTY_STRING_IS_NULL|READ-UNCOMMITTED|^(?!.*utf8mb4, )/;
const needed =
  'it needs InnoDB, utf8mb4, no sql_mode EMPTY_STRING_IS_NULL, and READ COMMITTED or higher; it has';

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const modes = "sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'";
const insertInto = `/*M! SET STATEMENT ${modes}, innodb_lock_wait_timeout = 0, lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(${modes}) */ INTO`;

type Statements = ReturnType<typeof statementsOf>;

function statementsOf({ name, names, columns, key, found }: TableSpec, types: readonly Column[]) {
  // MySQL compares numbers with text as doubles, so that 2^53 equals 2^53+1.
  const comparisons = key.map((column, i) => {
    const type = types[i]?.type ?? (names[i] === 'id' ? 'bigint' : '');
    return `${column} = ${/int|decimal/.test(type) ? 'CAST(? AS DECIMAL(65))' : '?'}`;
  });
  const same = comparisons.join(' AND ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const lone = `${insertInto} ${name} (${columns.join(', ')}) VALUES ${row}`;
  const storedOf = (count: number) => {
    const selects = Array.from({ length: count }, (_, i) => `SELECT ${i} AS n FROM ${name} WHERE ${same}`);
    return rowsOf(selects.join(' UNION ALL '));
  };
  const storedOne = storedOf(1);
  return {
    keyLength: key.length,
    insert: (count: number) => lone + `,${row}`.repeat(count - 1),
    stored: (count: number) => (count === 1 ? storedOne : storedOf(count)),
    find: rowsOf(`SELECT ${found} FROM ${name} AS plant WHERE ${same}`),
  };
}

/** A value as it is sent. The driver writes a Date in the pool's own time zone, in which it reads it again. */
function sent(value: Value): string | Date | null {
  if (value === null || value instanceof Date) return value;
  return String(typeof value === 'boolean' ? Number(value) : value);
}

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
async function insert(connection: MysqlConnection, sql: Statements, rows: Rows): Promise<CreateOutcome[]> {
  if (rows.length === 0) return [];
  try {
    await execute(connection, sql.insert(rows.length), rows.flat().map(sent), rows.length === 1);
    return rows.map(() => 'created');
  } catch (error) {
    if ((error as MysqlError).errno !== duplicateKey) throw error;
    // Whether the app has a transaction open, whose rows it can still roll back: a SELECT does not show that.
    await execute(connection, 'DO 0', [], true);
    const keys = rows.flatMap((row) => row.slice(0, sql.keyLength)).map(sent);
    const stored = await execute(connection, sql.stored(rows.length), keys, rows.length === 1);
    // Another unique index was violated, or by two plants of this batch.
    if (stored.length === 0) throw error;
    const taken = new Set(stored.map(({ n }) => Number(n)));
    const free = rows.filter((_, n) => !taken.has(n));
    const outcomes = await insert(connection, sql, free);
    return rows.map((_, n) => (taken.has(n) ? 'taken' : outcomes.shift()!));
  }
}

/** A statement with rows. Every setting of the pool that changes rows is set again, because what a statement says wins. */
function rowsOf(sql: string): MysqlStatement {
  return { sql, rowsAsArray: false, nestTables: false, typeCast: (_field, next) => next() };
}

/**
 * Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES. One without rows
 * is text, because mysql2 takes 8 µs longer for an object, 6 % of an INSERT.
 *
 * @param isLasting whether it may stay prepared, as one of few: servers limit such statements (max_prepared_stmt_count), and
 *   each batch size is one
 */
async function execute(
  connection: MysqlConnection,
  statement: string | MysqlStatement,
  values: (string | Date | null)[] = [],
  isLasting = false,
): Promise<Found[]> {
  // Each checkout has a wrapper of its own.
  const { connection: core = connection } = connection as { connection?: object };
  const running = connection.execute(statement, values);
  // A connection that has closed by now throws, and has no statement left to drop.
  if (!isLasting || !keepsPrepared(core, statement))
    running.finally(() => connection.unprepare(statement)).catch(() => {});
  const result = (await running)[0] as Found[] | { readonly serverStatus: number };
  if (Array.isArray(result)) return result;
  if ((result.serverStatus & inTransaction) === 0) return [];
  // What was inserted would be lost or stored with that transaction.
  await connection.execute('ROLLBACK', []);
  if (result.serverStatus & autocommit) throw new OpenTransaction();
  throw new StorageBusy("autocommit is off: the pool's connections must autocommit");
}

// Of the status that the server sends with a result.
const inTransaction = 1;
const autocommit = 2;
