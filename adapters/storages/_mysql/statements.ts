import type { LearnedTable } from '../_shared/columns.js';
import type { TableSpec } from '../_shared/table.js';

/** The SQL of a table. */
export type Statements = ReturnType<typeof statementsOf>;

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const modes = "sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'";
const insertInto = `/*M! SET STATEMENT ${modes}, innodb_lock_wait_timeout = 0, lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(${modes}) */ INTO`;

export function statementsOf({ name, columns, key, found }: TableSpec, table: LearnedTable) {
  // MySQL compares numbers with text as doubles, so that 2^53 equals 2^53+1.
  const comparisons = key.map((column, i) => {
    const isId = i === key.length - 1;
    const type = table.columns[i]?.type ?? (isId ? 'int' : '');
    return `${column} = ${/int|decimal/.test(type) ? 'CAST(? AS DECIMAL(65))' : '?'}`;
  });
  const same = comparisons.join(' AND ');
  const into = `${insertInto} ${name} (${columns.join(', ')})`;
  const row = `(${columns.map(() => '?').join(', ')})`;
  return {
    /** How many values of a row are of its key. */
    keyLength: key.length,
    insert: (count: number) => `${into} VALUES ${row}${`,${row}`.repeat(count - 1)}`,
    /** Fails as `insert` would for any row. */
    insertNothing: `${into} SELECT ${columns.map(() => 'NULL').join(', ')} FROM DUAL WHERE FALSE`,
    /** Which of this many keys are stored. */
    stored: (count: number) =>
      Array.from({ length: count }, (_, n) => `SELECT ${n} AS n FROM ${name} WHERE ${same}`).join(
        ' UNION ALL ',
      ),
    find: `SELECT ${found} FROM ${name} WHERE ${same}`,
  };
}
