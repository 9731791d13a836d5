import { type CreateOutcome, StorageBusy } from '../../../src/index.js';
import { type Rows, textOf, type Value } from '../_shared/rows.js';
import { keepsPrepared, OpenTransaction, type TableServer } from '../_shared/server-table.js';
import { type Column, cutsSpaces, type Dialect, learn, type TableSpec, unusable } from '../_shared/table.js';
import { duplicateKey, explain, type MysqlError } from './errors.js';

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

/** The connection of `mysql2` behind that of its promises. */
interface CoreConnection {
  execute(
    statement: string | MysqlStatement,
    values: (string | Date | null)[],
    done: (error: unknown, result: unknown) => void,
  ): unknown;
}

/** What those of `mysql2` itself have besides. */
interface MysqlWrapper extends MysqlConnection {
  readonly connection?: CoreConnection;
  /** The class of the promises that it returns. */
  readonly Promise?: unknown;
}

/** The part that this storage uses of a `mysql2/promise` pool, or of a pool cluster's namespace (`cluster.of('*', 'ORDER')`). */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** A row; `n` of `stored` is a number. */
type Found = Record<string, string>;

const utf8 = 'COLLATE utf8mb4_bin';
const text = `LONGTEXT ${utf8}`;
// Not CHAR, which loses trailing spaces, and not ENUM, which changes the case.
const texts = /^(varchar|\w*text)/;
export const dialect: Dialect = {
  mark: '`',
  container: 'database',
  types: { id: 'BIGINT', name: text, tag: text },
  exact: {
    id: /^(\w*int|decimal\(\d+,0\)|varchar|\w*text)/,
    name: texts,
    tag: texts,
    // Not ENUM and SET, which take a number for the place of a word.
    namespace: /^(\w*int|decimal\(\d+,0\)|varchar|char|varbinary|uuid)/,
  },
  changes,
  sent,
  // Longer ones fit no index.
  text: `VARCHAR(255) ${utf8}`,
  ending: ' ENGINE = InnoDB',
};

/** The bits of a length in bytes, of the types that have none: they lose trailing spaces beyond it, with a warning alone. */
const lengthBits: Record<string, number> = { tinytext: 8, text: 16, mediumtext: 24 };

function changes(type: string): ((text: string) => boolean) | undefined {
  const [, kind, words] = /^(enum|set)\((.*)\)$/.exec(type) ?? [];
  if (kind) {
    // The server takes a number for the place of a word, or for a sum of such places. It quotes the words like this.
    const isWord = (word: string) => `,${words},`.includes(`,'${word.replace(/['\\]/g, '$&$&')}',`);
    return (text) => !(kind === 'set' ? text.split(',').filter(Boolean) : [text]).every(isWord);
  }
  const bits = lengthBits[type];
  return bits
    ? (text) => text.endsWith(' ') && new TextEncoder().encode(text).length >= 2 ** bits
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
      const [table] = await execute(connection, rowsOf(lookAt), [database, last!]);
      if (table && unsafe.test(table.settings!)) throw unusable(spec, `${needed} ${table.settings}`);
      const found = await execute(connection, rowsOf(`SHOW COLUMNS FROM ${spec.name}`));
      const indexes = await execute(connection, rowsOf(`SHOW INDEX FROM ${spec.name} WHERE NOT Non_unique`));
      // From here on nothing is awaited: another connection must not insert before the index is looked at.
      const columns = learn(
        spec,
        found.map(({ Field, Type }) => ({ name: Field!, type: Type! })),
      );
      sql = statementsOf(spec, columns);
      const key = columns.map(({ name }) => name).slice(0, spec.key.length);
      const isUnique = indexes.some(({ Key_name }) => {
        const parts = indexes.filter((part) => part.Key_name === Key_name);
        // Not of their beginnings alone, whose lengths are `Sub_part`.
        return (
          parts.length === key.length &&
          parts.every((part) => key.includes(part.Sub_part ?? part.Column_name!))
        );
      });
      // An INSERT does not say which index it relies on. A view shows none.
      if (table?.ENGINE && !isUnique) throw unusable(spec, spec.unindexed);
    },
    insert: (connection, rows) => insert(connection, sql, rows),
    async find(connection, key) {
      return (await execute(connection, sql.find, key.map(sent), true))[0];
    },
    createTable: (connection) => execute(connection, spec.schema),
  };
}

/**
 * Finds the engine of a table, by the names of its database and of itself, what the session does to texts, and its isolation,
 * which MySQL and MariaDB call by another name each. Each name is a parameter: the server then reads this table and no other.
 */
const lookAt = `SELECT ENGINE, CONCAT_WS(', ', ENGINE, TRANSACTIONS, @@character_set_client, @@sql_mode
/*!50720 , @@transaction_isolation */ /*M! , @@tx_isolation */) AS settings
FROM information_schema.TABLES LEFT JOIN information_schema.ENGINES USING (ENGINE)
WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?`;

/**
 * Settings of a table and its session with which plants change or get lost. A failed INSERT of an engine without transactions
 * leaves rows behind. Another character set, or MariaDB's EMPTY_STRING_IS_NULL, which holds for parameters before a statement
 * can set another mode, changes texts. After a duplicate key the ids that are stored are asked for: READ UNCOMMITTED shows a
 * rival's, which may be rolled back.
 */
const unsafe = /, NO, |EMPTY_STRING_IS_NULL|READ-UNCOMMITTED|^(?!.*utf8mb4, )/;
const needed = 'it needs InnoDB, utf8mb4, no EMPTY_STRING_IS_NULL, no READ-UNCOMMITTED; it has';

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const modes = "sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'";
const insertInto = `/*M! SET STATEMENT ${modes}, innodb_lock_wait_timeout = 0, lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(${modes}) */ INTO`;

type Statements = ReturnType<typeof statementsOf>;

function statementsOf({ name, columns, key, found }: TableSpec, types: readonly Column[]) {
  // MySQL compares numbers with text as doubles, so that 2^53 equals 2^53+1.
  const comparisons = key.map((column, i) => {
    const type = types[i]?.type ?? (i === key.length - 1 ? 'int' : '');
    return `${column} = ${/int|decimal/.test(type) ? 'CAST(? AS DECIMAL(65))' : '?'}`;
  });
  const same = comparisons.join(' AND ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const lone = `${insertInto} ${name} (${columns.join(', ')}) VALUES ${row}`;
  const storedOf = (rows: Rows) =>
    rowsOf(rows.map((_, n) => `SELECT ${n} AS n FROM ${name} WHERE ${same}`).join(' UNION ALL '));
  const storedOne = storedOf([[]]);
  return {
    key,
    insert: (count: number) => lone + `,${row}`.repeat(count - 1),
    stored: (rows: Rows) => (rows.length === 1 ? storedOne : storedOf(rows)),
    find: rowsOf(`SELECT ${found} FROM ${name} WHERE ${same}`),
  };
}

/** A value as it is sent. The driver writes a Date in the pool's own time zone, in which it reads it again. */
function sent(value: Value): string | Date | null {
  return value instanceof Date ? value : textOf(typeof value === 'boolean' ? Number(value) : value);
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
    const keys = rows.flatMap((row) => row.slice(0, sql.key.length)).map(sent);
    const stored = await execute(connection, sql.stored(rows), keys, rows.length === 1);
    // Another unique index was violated, or by two plants of this batch.
    if (stored.length === 0) throw error;
    const taken = new Set(stored.map(({ n }) => Number(n)));
    const outcomes = await insert(
      connection,
      sql,
      rows.filter((_, n) => !taken.has(n)),
    );
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
  connection: MysqlWrapper,
  statement: string | MysqlStatement,
  values: (string | Date | null)[] = [],
  isLasting = false,
): Promise<Found[]> {
  // Each checkout has a wrapper of its own. Its `execute` records the stack for errors, 7 % of a lone create, which the core's
  // does not. But one that the app has put in its place, with a Proxy or a class too, is the app's. A class of the app has no
  // `Promise`, and what it calls its `connection` may take no callback.
  const { connection: core } = connection;
  const running =
    connection.Promise && Object.getPrototypeOf(connection).execute === connection.execute
      ? new Promise<[unknown]>((resolve, reject) => {
          core!.execute(statement, values, (error, result) => (error ? reject(error) : resolve([result])));
        })
      : connection.execute(statement, values);
  // A connection that has closed by now throws, and has no statement left to drop.
  if (!isLasting || !keepsPrepared(core ?? connection, statement))
    running.finally(() => connection.unprepare(statement)).catch(() => {});
  const [result] = (await running) as [Found[] | { readonly serverStatus: number }];
  if (Array.isArray(result)) return result;
  if ((result.serverStatus & inTransaction) === 0) return [];
  // What was inserted would be lost or stored with that transaction.
  await connection.execute('ROLLBACK', []);
  if (result.serverStatus & autocommit) throw new OpenTransaction();
  throw new StorageBusy('autocommit is off: set it');
}

// Of the status that the server sends with a result.
const inTransaction = 1;
const autocommit = 2;
