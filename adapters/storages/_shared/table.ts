import { type NewPlant, RolledBack } from '../../../src/index.js';
import { members, type Row, type RowOptions, type Rows, textOf, type Value } from './rows.js';

/** How a database spells names and types. */
export interface Dialect {
  /** The quotation mark of names. */
  readonly mark: string;
  /** What may precede the name of a table, with a dot between. Without it a dot is part of the name. */
  readonly container?: string;
  /** @throws {TypeError} if the database would cut a name */
  readonly checkName?: (name: string) => void;
  /** The definitions of the columns of a plant. */
  readonly types: Record<keyof NewPlant, string>;
  /**
   * The types that hold each value of a member exactly or reject it, and those that keep all texts of a namespace apart.
   * Others round, pad or convert without an error.
   */
  readonly exact: Record<keyof NewPlant | 'namespace', RegExp>;
  /** What the driver is given for a value, if that is not its text. */
  readonly sent?: (value: Value) => unknown;
  /** What a column of this type changes without an error all the same. */
  readonly changes?: (type: string) => ((text: string) => boolean) | undefined;
  /** A type of text that can be part of a key. */
  readonly text: string;
  /** What follows the columns in `CREATE TABLE`. */
  readonly ending?: string;
}

/** The options that name a table and its columns. */
export interface TableOptions<Caller> extends RowOptions<Caller> {
  /**
   * The table's name; it is quoted. In PostgreSQL its schema, in MySQL its database may stand in front, with a dot
   * between: `garden.plants`. Default: `plants`.
   */
  readonly table?: string | undefined;
}

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

/** The database, or a look at its table, rejected the rows: nothing was stored, and the connection is as before. */
export class Rejection extends RolledBack {}

/** The cause of the rejection of every create, until somebody does what it says. `logError` knows its name. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** What to do about a table with columns of the app, whose types only the app knows. */
export const migrate = 'Write a migration from what schemaOf returns, and edit the types';

/** Not a whole number as a column of integers spells it: `01`, ` 1` and, in MySQL, `1abc` would be another's `1`. */
function isNoInt64(text: string): boolean {
  return !/^-?\d{1,19}$/.test(text) || String(BigInt.asIntN(64, BigInt(text))) !== text;
}

/** For `Dialect.changes`: VARCHAR(n) loses the trailing spaces beyond its length, CHAR(n) all of them. */
export function cutsSpaces(type: string): ((text: string) => boolean) | undefined {
  if (!/^(bp|var)?char/.test(type)) return undefined;
  const length = /var/.test(type) ? Number(/\d+/.exec(type) ?? Infinity) : 0;
  return (text) => text.endsWith(' ') && [...text].length > length;
}

/** A table as its options describe it, in the SQL of one database, and what a look at it has found. */
export type TableSpec = ReturnType<typeof specOf>;

/** @throws {TypeError} if a name is invalid */
export function specOf(dialect: Dialect, { table = 'plants', namespace, columns: own }: TableOptions<never>) {
  const { types, text, container, ending = '' } = dialect;
  const spaces = Object.keys(namespace ?? {});
  const further = Object.keys(own ?? {});
  const quoted = (column: string) => quote('column', column, dialect);
  const name = quote('table', table, dialect, container);
  const names = [...spaces, ...members, ...further];
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    throw new TypeError(`columns must have different names, got ${names.join(', ')}`);
  const columns = [...spaces.map(quoted), ...members, ...further.map(quoted)];
  const key = columns.slice(0, spaces.length + 1);
  const keys = key.join(', ');
  // All columns of the app have the same type: a start.
  const typed = columns.map((column, i) => `${column} ${types[members[i - spaces.length]!] ?? text}`);
  // The namespace, the id and the name.
  const lines = typed.map((line, i) => (i > key.length ? line : `${line} NOT NULL`));
  if (spaces.length > 0) lines.push(`PRIMARY KEY (${keys})`);
  else lines[0] = `${typed[0]} PRIMARY KEY`;
  const schema = `CREATE TABLE IF NOT EXISTS ${name} (${lines.join(', ')})${ending}`;
  const isPlain = names.length === members.length;
  return {
    dialect,
    /** As it was given, and quoted. */
    given: table,
    name,
    /** The columns in their order: the namespace, those of a plant, further ones of the app. */
    names,
    /** The same, those of the app quoted. */
    columns,
    /** Each with its type. */
    typed,
    /** What is unique: the columns of the namespace and the id, as in `columns`. */
    key,
    /** Whether it has no columns of the app. */
    isPlain,
    /** What `find` selects. Not the id, which drivers round, and at which node:sqlite throws. */
    found: members.slice(1).join(', '),
    /** The SQL that creates the table. */
    schema,
    /** What is wrong without the table, and without its index. */
    missing: `it does not exist. ${isPlain ? `Call storage.createTable(), or run: ${schema}` : migrate}`,
    unindexed: `it needs a unique index of exactly (${keys}). Run: CREATE UNIQUE INDEX plants_key ON ${name} (${keys})`,
    /** Whether a look has found it. */
    isKnown: false,
    /** The columns that change some values without an error. */
    checks: [] as { isChanged: (row: Row) => boolean; why: string }[],
  };
}

/**
 * Takes what a look has found; none if there is no table. Returns the columns in the order of the table's.
 *
 * @throws {Rejection} if one is missing, or would change the values that it is given
 */
export function learn(spec: TableSpec, found: readonly Column[]): Column[] {
  const { exact, changes, sent = textOf } = spec.dialect;
  spec.isKnown = false;
  spec.checks = [];
  if (found.length === 0) return [];
  const columns = spec.names.map((name, i) => {
    const column = found.find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (!column)
      throw unusable(spec, `it has no column ${name}. Run: ALTER TABLE ${spec.name} ADD ${spec.typed[i]}`);
    const { type, base = type } = column;
    // Of the namespace if negative. A further column of the app rounds as the app likes.
    const place = i - spec.key.length + 1;
    const holds = place < 0 ? exact.namespace : exact[members[place]!];
    if (holds?.test(base) === false)
      throw unusable(
        spec,
        `its column ${name} is ${type}, which does not hold every ${name} exactly: use ${spec.typed[i]}`,
      );
    const isNumber = place < 0 && /int|decimal|numeric/i.test(base);
    const isChanged = isNumber ? isNoInt64 : changes?.(base);
    if (isChanged)
      spec.checks.push({
        isChanged: ({ [i]: value }) => value != null && isChanged(String(sent(value))),
        why: `the column ${column.name}, ${type}, would change the value`,
      });
    return column;
  });
  spec.isKnown = true;
  return columns;
}

/** The error of a value that a column would change without one. */
export function changeOf({ checks }: TableSpec, rows: Rows): Rejection | undefined {
  const check = checks.find(({ isChanged }) => rows.some(isChanged));
  return check && new Rejection('apart', new Error(check.why));
}

/** The error of every create until somebody does what it says. The next create looks again. */
export function unusable(spec: TableSpec, why: string, cause?: unknown): Rejection {
  spec.isKnown = false;
  const error = new SetupError(`plant-store cannot use the table ${spec.name}: ${why}`, { cause });
  return new Rejection('apart', error);
}

/** The `schemaOf` of a database. */
export function schemaOfIn(dialect: Dialect): (options?: TableOptions<never>) => string {
  return (options = {}) => specOf(dialect, options).schema;
}

/** @throws {TypeError} if it is no such name */
function quote(what: string, name: unknown, { mark, checkName }: Dialect, container?: string): string {
  const parts = container ? String(name).split('.') : [String(name)];
  if (typeof name !== 'string' || parts.length > 2 || parts.some((part) => !part || part.includes('\0')))
    throw new TypeError(`${what} must be a name${container ? `, or ${container}.name` : ''}`);
  if (checkName) parts.forEach(checkName);
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
