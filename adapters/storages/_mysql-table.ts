import { type Column, UnusableTable } from './_columns.js';
import type { Row } from './_rows.js';
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

/** A column, and how a value is compared with it. */
export interface MysqlColumn extends Column {
  /** MySQL compares numbers with text as doubles, so that 2^53 equals 2^53+1. */
  readonly mark: string;
}

/**
 * Finds the engine, the columns and the unique indexes of a table, by the names of its database and of itself. The exact
 * name goes first.
 */
export const lookAt = `SELECT t.TABLE_NAME, t.ENGINE, e.TRANSACTIONS, c.COLUMN_NAME, LOWER(c.DATA_TYPE), LOWER(c.COLUMN_TYPE),
c.NUMERIC_SCALE, c.CHARACTER_MAXIMUM_LENGTH, s.INDEX_NAME, s.SUB_PART FROM information_schema.COLUMNS AS c
JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
LEFT JOIN information_schema.STATISTICS AS s ON s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME
AND s.COLUMN_NAME = c.COLUMN_NAME AND s.NON_UNIQUE = 0
WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ? ORDER BY t.TABLE_NAME = BINARY ? DESC`;

/** @throws {UnusableTable} if its engine cannot roll back, or no index keeps its keys unique */
export function columnsIn(table: Table, found: readonly (string | null)[][]): MysqlColumn[] {
  const [exactName, engine, transactions] = found[0] ?? [];
  // A failed INSERT of such an engine leaves rows behind.
  if (transactions === 'NO')
    throw new UnusableTable(table.name, `its engine ${engine} has no transactions; use InnoDB`);
  const rows = found.filter(([name]) => name === exactName);
  // An INSERT does not say which index it relies on. A view shows none.
  if (engine && !isUnique(table, rows)) {
    throw new UnusableTable(table.name, `it needs a unique index of exactly (${table.key.join(', ')})`);
  }
  return rows.map(([, , , name, type, fullType, scale, length]): MysqlColumn => {
    const isText = isTextType(type!);
    const isInteger = /^(tiny|small|medium|big)?int$/.test(type!);
    const isNumber = isInteger || type === 'decimal';
    const integer = /unsigned/.test(fullType!) ? 'UNSIGNED' : 'SIGNED';
    return {
      name: name!,
      type: fullType!,
      isExact: isText || (name!.toLowerCase() === 'id' && isNumber && Number(scale) === 0),
      maxLength: type === 'varchar' ? Number(length) : undefined,
      mark: isNumber ? `CAST(? AS ${isInteger ? integer : `DECIMAL(65, ${scale})`})` : '?',
    };
  });
}

/** Whether an index makes exactly the key unique, not only the beginnings of its columns. */
function isUnique({ names, key }: Table, rows: readonly (string | null)[][]): boolean {
  const parts = names.slice(0, key.length).map((name) => name.toLowerCase());
  const indexes = new Map<string, (string | null)[]>();
  for (const [, , , name, , , , , index, length] of rows) {
    if (index) indexes.set(index, [...(indexes.get(index) ?? []), length ? null : name!.toLowerCase()]);
  }
  return [...indexes.values()].some(
    (columns) => columns.length === parts.length && parts.every((part) => columns.includes(part)),
  );
}

/** Not CHAR, which loses trailing spaces, and not ENUM, which changes the case. */
function isTextType(type: string): boolean {
  return /^(varchar|(tiny|medium|long)?text)/.test(type);
}

/** The statements that fit the columns of a table. */
export interface MysqlSql {
  readonly columns: readonly MysqlColumn[];
  readonly keyLength: number;
  insert(count: number): string;
  /** Finds the places in the batch of the rows that are stored. */
  stored(count: number): string;
  readonly find: string;
}

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const modes = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO';
const insertInto = `/*M! SET STATEMENT sql_mode = CONCAT(@@sql_mode, ',${modes}'), innodb_lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(sql_mode = '${modes}') */ INTO`;

/** @param found in the order of the table's columns */
export function sqlOf(table: Table, found: readonly MysqlColumn[]): MysqlSql {
  const { name, columns, key } = table;
  const same = key.map((column, i) => `${column} = ${found[i]!.mark}`).join(' AND ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  return {
    columns: found,
    keyLength: key.length,
    insert: (count) =>
      `${insertInto} ${name} (${columns.join(', ')}) VALUES ${Array(count).fill(row).join()}`,
    stored: (count) =>
      Array.from({ length: count }, (_, n) => `SELECT ${n} FROM ${name} WHERE ${same}`).join(' UNION ALL '),
    find: `SELECT ${table.found} FROM ${name} AS plant WHERE ${same}`,
  };
}

/** A value as it is sent. The driver writes a Date in the pool's own time zone, in which it reads it again. */
export function sent(value: Row[number]): string | Date | null {
  if (value === null || value instanceof Date) return value;
  return String(typeof value === 'boolean' ? Number(value) : value);
}

/** What to take a column for that the database does not show. */
export function assumed(name: string): MysqlColumn {
  return { name, type: '', isExact: true, mark: name === 'id' ? 'CAST(? AS SIGNED)' : '?' };
}
