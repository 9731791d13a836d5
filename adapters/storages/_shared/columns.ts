import { OwnError } from '../../../src/for-storages.js';
import { migrate, Rejection, unusable } from './rejection.js';
import { type Row, type Rows, textOf } from './rows.js';
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
  /** Whether the database computes its values, and takes none. */
  readonly isGenerated?: unknown;
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
  /** Whether it may take no unique index of the key, if that was looked for: a view takes none, and partitions may forbid one. */
  readonly mayTakeNoIndex?: boolean;
  /** The names of its unique keys but the one of the id, if that was looked for. */
  readonly uniqueKeys?: readonly string[];
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
 * @param isView whether it is a view, which takes no further columns
 * @throws {Rejection} if one is missing, or would change the values that it is given
 */
export function learn(
  spec: TableSpec,
  found: readonly Column[],
  hasTriggers: boolean,
  isView = false,
): LearnedTable {
  const columns = spec.columns.map(({ name, member = name, definition }, i) => {
    const column = found.find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (!column) throw unusable(spec, missingColumn(spec, i, isView));
    if (column.isGenerated)
      throw unusable(
        spec,
        `its column ${name} is generated: make it a plain column, or name another by ${optionOf(spec, i)}`,
      );
    const exact = exactTypeOf(spec, i);
    if (exact?.test(column.base ?? column.type) === false)
      throw unusable(
        spec,
        `its column ${name} is ${column.type}, which does not hold every ${member} exactly: use ${definition}`,
      );
    return column;
  });
  return { columns, checks: columns.flatMap((column, i) => checkOf(spec, column, i) ?? []), hasTriggers };
}

const isOfNamespace = ({ key }: TableSpec, place: number) => place < key.length - 1;

/** What is wrong if a column is missing. An empty one in place of one that was renamed would hide the plants in that. */
function missingColumn(spec: TableSpec, place: number, isView: boolean): string {
  const { name, member, definition } = spec.columns[place]!;
  let remedy = `run: ALTER TABLE ${spec.name} ADD ${definition}`;
  if (member === 'id') remedy = 'set the option table to a table of plants';
  else if (isView) remedy = 'add it to the view';
  else if (isOfNamespace(spec, place)) remedy = migrate;
  return `it has no column ${name}. If it was renamed, give its new name by ${optionOf(spec, place)}. If not, ${remedy}`;
}

/** The option that names the column at this place. */
function optionOf(spec: TableSpec, place: number): string {
  const { member } = spec.columns[place]!;
  if (member) return `the option names: { ${member}: '...' }`;
  return `the option ${isOfNamespace(spec, place) ? 'namespace' : 'columns'}`;
}

/** The types that hold what the column at this place is given. A further column of the app rounds as the app likes. */
function exactTypeOf(spec: TableSpec, place: number): RegExp | undefined {
  const member = isOfNamespace(spec, place) ? 'namespace' : spec.columns[place]!.member;
  return member && spec.dialect.exact[member];
}

function checkOf(spec: TableSpec, column: Column, place: number): Check | undefined {
  const { changes, sent = textOf } = spec.dialect;
  const { name, type, base = type } = column;
  const isInteger = isOfNamespace(spec, place) && /int|decimal|numeric/i.test(base);
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
  return check && new Rejection('rejected', new OwnError(check.why));
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
