import {
  type Column,
  type Columns,
  checkColumns,
  definitionsOf,
  membersOf,
  UnusableTable,
} from './_table.js';

const text = 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
export const columns: Columns = { id: 'BIGINT PRIMARY KEY', name: `${text} NOT NULL`, tag: text };

export function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (${definitionsOf(columns)}) ENGINE = InnoDB`;
}

/** What is known of a table. */
export interface MysqlTable {
  readonly columns: readonly Column[];
  /** An id that is compared: MySQL compares BIGINT with text as doubles, so that 2^53 equals 2^53+1. */
  readonly id: string;
}

export function tableOf(found: readonly Column[] = []): MysqlTable {
  const isText = found.some(({ name, type }) => name === 'id' && isTextType(type));
  return { columns: found, id: isText ? '?' : 'CAST(? AS SIGNED)' };
}

/** Finds the engine and the columns of a table, by the names of its database and of itself. The exact name goes first. */
export const lookAt = `SELECT t.TABLE_NAME, t.ENGINE, e.TRANSACTIONS, LOWER(c.COLUMN_NAME), LOWER(c.DATA_TYPE), LOWER(c.COLUMN_TYPE),
c.NUMERIC_SCALE, c.CHARACTER_MAXIMUM_LENGTH FROM information_schema.COLUMNS AS c
JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ? ORDER BY t.TABLE_NAME = BINARY ? DESC`;

/** @throws {UnusableTable} if its engine cannot roll back, or a column would change the values that it is given */
export function foundIn(table: string, rows: readonly (string | null)[][]): Column[] {
  const [exactName, engine, transactions] = rows[0] ?? [];
  // A failed INSERT of such an engine leaves rows behind.
  if (transactions === 'NO')
    throw new UnusableTable(table, `its engine ${engine} has no transactions; use InnoDB`);
  const found: Column[] = [];
  for (const [tableName, , , name, type, fullType, scale, length] of rows) {
    if (tableName !== exactName || !membersOf(columns).includes(name as never)) continue;
    const isId =
      isTextType(type!) ||
      /^(tiny|small|medium|big)?int$/.test(type!) ||
      (type === 'decimal' && Number(scale) === 0);
    found.push({
      name: name!,
      type: fullType!,
      isExact: name === 'id' ? isId : isTextType(type!),
      maxLength: type === 'varchar' ? Number(length) : undefined,
    });
  }
  checkColumns(table, found, columns);
  return found;
}

/** Not CHAR, which loses trailing spaces, and not ENUM, which changes the case. */
function isTextType(type: string): boolean {
  return /^(varchar|(tiny|medium|long)?text)/.test(type);
}
