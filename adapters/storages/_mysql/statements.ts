import { cutsSpaces, type LearnedTable } from '../_shared/columns.js';
import { textOf, type Value } from '../_shared/rows.js';
import type { Dialect, TableSpec } from '../_shared/table.js';

const collation = 'COLLATE utf8mb4_bin';
const textColumn = `LONGTEXT ${collation}`;
// Not CHAR, which loses trailing spaces, and not ENUM, which changes the case.
const texts = /^(varchar|\w*text)/;

export const dialect: Dialect = {
  mark: '`',
  container: 'database',
  types: { id: 'BIGINT', name: textColumn, tag: textColumn },
  exact: {
    id: /^(\w*int|decimal\(\d+,0\)|varchar|\w*text)/,
    name: texts,
    tag: texts,
    // Not ENUM and SET, which take a number for the place of a word.
    namespace: /^(\w*int|decimal\(\d+,0\)|varchar|char|varbinary|uuid)/,
  },
  changes,
  sent: sentTo,
  // Longer ones fit no index.
  text: `VARCHAR(255) ${collation}`,
  ending: ' ENGINE = InnoDB',
};

/** A value as it is sent. The driver writes a Date in the pool's own time zone, in which it reads it again. */
export function sentTo(value: Value): string | Date | null {
  return value instanceof Date ? value : textOf(typeof value === 'boolean' ? Number(value) : value);
}

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

/** The SQL of a table. */
export type Statements = ReturnType<typeof statementsOf>;

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number; without
 * unique_checks, InnoDB may let an id into a unique index twice.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const modes = "sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'";
const insertInto = `/*M! SET STATEMENT ${modes}, unique_checks = 1, innodb_lock_wait_timeout = 0, lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(${modes}) SET_VAR(unique_checks = 1) */ INTO`;

export function statementsOf({ name, columns, key, found }: TableSpec, table: LearnedTable) {
  // MySQL compares numbers with text as doubles (https://dev.mysql.com/doc/refman/8.4/en/type-conversion.html), so that 2^53 equals 2^53+1.
  const comparisons = key.map((column, i) => {
    const isId = i === key.length - 1;
    const type = table.columns[i]?.type ?? (isId ? 'int' : '');
    return `${column} = ${/int|decimal/.test(type) ? 'CAST(? AS DECIMAL(65))' : '?'}`;
  });
  const same = comparisons.join(' AND ');
  const into = `${insertInto} ${name} (${columns.map(({ quoted }) => quoted).join(', ')})`;
  const row = `(${columns.map(() => '?').join(', ')})`;
  return {
    /** What a duplicate key means whose id is not stored. The server names the index in its message alone. */
    otherKey: otherKeyOf(name, table.uniqueKeys ?? []),
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
    find: `SELECT ${found} FROM ${name} AS plant WHERE ${same}`,
  };
}

function otherKeyOf(table: string, keys: readonly string[]): string {
  const which = keys.length > 0 ? `: ${keys.length > 1 ? 'one of ' : ''}${keys.join(', ')}` : '';
  return `another unique key of the table ${table} has this value already${which}`;
}
