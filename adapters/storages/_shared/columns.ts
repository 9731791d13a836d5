import { ownWords } from '../../../src/for-storages.js';
import { Rejection, unusable } from './rejection.js';
import { members, type Row, type Rows, textOf } from './rows.js';
import type { Dialect, TableSpec } from './table.js';

/** A column of a table, as a look at it has found it. */
export interface Column {
  readonly name: string;
  /** As the database calls it. */
  readonly type: string;
  /** The type behind a domain. */
  readonly base?: string;
  /** That type in a cast, which has no length: a cast to `varchar(5)` cuts. */
  readonly cast?: string;
}

/** What a look at a table has learned. */
export interface LearnedTable {
  /** Its columns, in the order of those of its `TableSpec`; none if the database has no catalogue to look at. */
  readonly columns: readonly Column[];
  /** What some of its columns would do without an error. */
  readonly checks: readonly Check[];
  /** Whether an INSERT runs triggers of the app, or may run some behind a view: they can give a row another key than was sent. */
  readonly hasTriggers: boolean;
  /** Whether it has constraints that are checked at COMMIT, if that was looked for. */
  readonly checksAtCommit?: boolean;
}

/** A column that changes some values without an error. */
interface Check {
  readonly isChanged: (row: Row) => boolean;
  readonly why: string;
}

/** What is assumed of a table that cannot be looked at: columns of the usual types. */
export const unseenTable: LearnedTable = { columns: [], checks: [], hasTriggers: false };

/**
 * Makes of the columns that a look has found what the statements need to know.
 *
 * @throws {Rejection} if one is missing, or would change the values that it is given
 */
export function learn(spec: TableSpec, found: readonly Column[], hasTriggers: boolean): LearnedTable {
  const columns = spec.columns.map(({ name, definition }, i) => {
    const column = found.find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (!column)
      throw unusable(spec, `it has no column ${name}. Run: ALTER TABLE ${spec.name} ADD ${definition}`);
    const exact = exactTypeOf(spec, i);
    if (exact?.test(column.base ?? column.type) === false)
      throw unusable(
        spec,
        `its column ${name} is ${column.type}, which does not hold every ${name} exactly: use ${definition}`,
      );
    return column;
  });
  return { columns, checks: columns.flatMap((column, i) => checkOf(spec, column, i) ?? []), hasTriggers };
}

/** The types that hold what the column at this place is given. A further column of the app rounds as the app likes. */
function exactTypeOf({ dialect, key }: TableSpec, place: number): RegExp | undefined {
  const isOfNamespace = place < key.length - 1;
  if (isOfNamespace) return dialect.exact.namespace;
  const member = members[place - (key.length - 1)];
  return member && dialect.exact[member];
}

function checkOf(spec: TableSpec, column: Column, place: number): Check | undefined {
  const { changes, sent = textOf } = spec.dialect;
  const { name, type, base = type } = column;
  const isOfNamespace = place < spec.key.length - 1;
  const isInteger = isOfNamespace && /int|decimal|numeric/i.test(base);
  const isChanged = isInteger ? isNoInt64 : changes?.(base);
  if (!isChanged) return undefined;
  return {
    isChanged: ({ [place]: value }) => value != null && isChanged(String(sent(value))),
    why: `the column ${name}, ${type}, would change the value`,
  };
}

/** Returns the error of a value that a column would change without one. */
export function changeOf({ checks }: LearnedTable, rows: Rows): Rejection | undefined {
  const check = checks.find(({ isChanged }) => rows.some(isChanged));
  return check && new Rejection('rejected', ownWords(new Error(check.why)));
}

/** Not a whole number as a column of integers spells it: `01`, ` 1` and, in MySQL, `1abc` would be another's `1`. */
function isNoInt64(text: string): boolean {
  return !/^-?\d{1,19}$/.test(text) || String(BigInt.asIntN(64, BigInt(text))) !== text;
}

/** For `changes` of a `Dialect`: VARCHAR(n) loses the trailing spaces beyond its length, CHAR(n) all of them. */
export const cutsSpaces: NonNullable<Dialect['changes']> = (type) => {
  if (!/^(bp|var)?char/.test(type)) return undefined;
  const length = /var/.test(type) ? Number(/\d+/.exec(type) ?? Infinity) : 0;
  return (text) => text.endsWith(' ') && [...text].length > length;
};
