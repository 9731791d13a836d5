import { type CreateOutcome, StorageBusy } from '../../src/index.js';
import { UnusableTable } from './_columns.js';
import { duplicateKey, type MysqlError, meaningOf } from './_mysql-errors.js';
import { type MysqlConnection, type MysqlPool, type MysqlStatement, poolOf } from './_mysql-pool.js';
import { members, type Rows, type Value } from './_rows.js';
import { OpenTransaction, type Server, type ServerColumn } from './_server.js';
import type { Dialect, Table } from './_table.js';

const utf8 = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const text = `LONGTEXT ${utf8}`;
export const dialect: Dialect = {
  mark: '`',
  container: 'database',
  types: { id: 'BIGINT PRIMARY KEY', name: `${text} NOT NULL`, tag: text },
  // Longer ones fit no index.
  text: `VARCHAR(255) ${utf8}`,
  ending: ' ENGINE = InnoDB',
};

type Statements = ReturnType<typeof statementsOf>;

/** @param name of the table, not quoted */
export function mysqlServer(
  pool: MysqlPool,
  table: Table,
  name = 'plants',
): Server<MysqlConnection, Statements> {
  let modes = '';
  return {
    pool: poolOf(pool),
    meaningOf,
    async look(connection) {
      const [last, database = null] = name.split('.').reverse();
      const found = await execute(connection, rowsOf(lookAt), [database, last!, last!]);
      modes = found[0]?.at(-1) ?? '';
      return columnsIn(table, found);
    },
    sqlOf: (columns) => statementsOf(table, columns, modes),
    insert,
    async select(connection, { find }, key) {
      const [row] = await execute(connection, find, key.map(sent));
      return row && Object.fromEntries(members.slice(1).map((member, i) => [member, row[i]]));
    },
    createTable: (connection) => execute(connection, table.schema),
  };
}

/**
 * Finds the engine, the columns and the unique indexes of a table, by the names of its database and of itself, and the
 * SQL modes of the session. The exact name goes first.
 */
export const lookAt = `SELECT t.TABLE_NAME, t.ENGINE, e.TRANSACTIONS, c.COLUMN_NAME, LOWER(c.DATA_TYPE), LOWER(c.COLUMN_TYPE),
c.NUMERIC_SCALE, c.CHARACTER_MAXIMUM_LENGTH, s.INDEX_NAME, s.SUB_PART, @@sql_mode FROM information_schema.COLUMNS AS c
JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
LEFT JOIN information_schema.STATISTICS AS s ON s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME
AND s.COLUMN_NAME = c.COLUMN_NAME AND s.NON_UNIQUE = 0
WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ? ORDER BY t.TABLE_NAME = BINARY ? DESC`;

/** @throws {UnusableTable} if its engine cannot roll back, or no index keeps its keys unique */
function columnsIn(table: Table, found: readonly (string | null)[][]): ServerColumn[] {
  const [exactName, engine, transactions] = found[0] ?? [];
  // A failed INSERT of such an engine leaves rows behind.
  if (transactions === 'NO')
    throw new UnusableTable(table.name, `its engine ${engine} has no transactions; use InnoDB`);
  const rows = found.filter(([name]) => name === exactName);
  // An INSERT does not say which index it relies on. A view shows none.
  if (engine && !isUnique(table, rows)) {
    throw new UnusableTable(table.name, `it needs a unique index of exactly (${table.key.join(', ')})`);
  }
  return rows.map(([, , , name, type, fullType, scale, length]): ServerColumn => {
    // Not CHAR, which loses trailing spaces, and not ENUM, which changes the case.
    const isText = /^(varchar|(tiny|medium|long)?text)/.test(type!);
    const isInteger = /^(tiny|small|medium|big)?int$/.test(type!);
    const isNumber = isInteger || type === 'decimal';
    const integer = /unsigned/.test(fullType!) ? 'UNSIGNED' : 'SIGNED';
    return {
      name: name!,
      type: fullType!,
      isExact: isText || (name!.toLowerCase() === 'id' && isNumber && Number(scale) === 0),
      maxLength: type === 'varchar' ? Number(length) : undefined,
      // MySQL compares numbers with text as doubles, so that 2^53 equals 2^53+1.
      cast: isNumber ? `CAST(? AS ${isInteger ? integer : `DECIMAL(65, ${scale})`})` : '?',
    };
  });
}

/** Whether an index makes exactly the key unique, not only the beginnings of its columns. */
function isUnique({ names, key }: Table, rows: readonly (string | null)[][]): boolean {
  const asText = (parts: (string | null)[]) => JSON.stringify(parts.sort());
  const partsOf = (index: string) =>
    rows.filter((row) => row[8] === index).map((row) => (row[9] ? null : row[3]!.toLowerCase()));
  const parts = asText(names.slice(0, key.length).map((name) => name.toLowerCase()));
  return rows.some(([, , , , , , , , index]) => index && asText(partsOf(index)) === parts);
}

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const exact = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO';

/**
 * @param modes those of the session that looked at the table, which MariaDB keeps. To read each session's own in the
 *   statement takes 4 µs, 3 % of an INSERT; a session that changes them later changes no plant, because `exact` holds
 */
function statementsOf(table: Table, found: readonly ServerColumn[], modes: string) {
  const { name, columns, key } = table;
  const insertInto = `/*M! SET STATEMENT sql_mode = '${modes},${exact}', innodb_lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(sql_mode = '${exact}') */ INTO`;
  const assumed = (column: string) => (column === 'id' ? 'CAST(? AS SIGNED)' : '?');
  const same = key.map((column, i) => `${column} = ${found[i]?.cast ?? assumed(column)}`).join(' AND ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const lone = `${insertInto} ${name} (${columns.join(', ')}) VALUES ${row}`;
  return {
    columns: found,
    keyLength: key.length,
    insert: (count: number) => lone + `,${row}`.repeat(count - 1),
    stored: (count: number) =>
      rowsOf(
        Array.from({ length: count }, (_, n) => `SELECT ${n} FROM ${name} WHERE ${same}`).join(' UNION ALL '),
      ),
    find: rowsOf(`SELECT ${table.found} FROM ${name} AS plant WHERE ${same}`),
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
    await execute(connection, 'DO 0');
    const keys = rows.flatMap((row) => row.slice(0, sql.keyLength)).map(sent);
    const stored = await execute(connection, sql.stored(rows.length), keys, rows.length === 1);
    // Another unique index was violated, or by two plants of this batch.
    if (stored.length === 0) throw error;
    const taken = new Set(stored.map(([n]) => Number(n)));
    const free = rows.filter((_, n) => !taken.has(n));
    const outcomes = await insert(connection, sql, free);
    return rows.map((_, n) => (taken.has(n) ? 'taken' : outcomes.shift()!));
  }
}

/** A statement with rows. Every setting of the pool that changes rows is set again, because what a statement says wins. */
function rowsOf(sql: string): MysqlStatement {
  return { sql, rowsAsArray: true, nestTables: false, typeCast: (_field, next) => next() };
}

/**
 * Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES. One without rows
 * is text, because mysql2 takes 8 µs longer for an object, 6 % of an INSERT.
 */
async function execute(
  connection: MysqlConnection,
  statement: string | MysqlStatement,
  values: (string | Date | null)[] = [],
  isKept = true,
): Promise<(string | null)[][]> {
  const running = connection.execute(statement, values);
  if (!isKept) {
    // Servers limit prepared statements (max_prepared_stmt_count), and each batch size is one.
    const drop = () => connection.unprepare(statement);
    // A connection that has closed by now throws, and has no statement left to drop.
    running.then(drop, (error: MysqlError) => error.sqlState && drop()).catch(() => {});
  }
  const result = (await running)[0] as (string | null)[][] | { readonly serverStatus: number };
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
