import { type NewPlant, RolledBack } from '../../src/index.js';
import { members, type RowOptions, type Rows, textOf, type Value } from './_rows.js';

/** How a database spells names and types. */
export interface Dialect {
  /** The quotation mark of names. */
  readonly mark: string;
  /** What may precede the name of a table, with a dot between. Without it a dot is part of the name. */
  readonly container?: string;
  /** The longest name, in bytes of UTF-8, if the database cuts longer ones. */
  readonly maxBytes?: number;
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

/** What can be wrong with the table or the login, as the database's errors tell it. */
export type Fault = 'missing' | 'not unique' | 'denied' | 'login';

/** A whole number, as a column of integers spells it: `01`, ` 1` and, in MySQL, `1abc` would be another's `1`. */
function isInt64(text: string): boolean {
  return /^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** For `Dialect.changes`: VARCHAR(n) loses the trailing spaces beyond its length, CHAR(n) all of them. */
export function cutsSpaces(type: string): ((text: string) => boolean) | undefined {
  if (/^(char|character)\b(?! varying)|^bpchar/.test(type)) return (text) => text.endsWith(' ');
  const [, length] = /^(?:varchar|character varying)\((\d+)\)/.exec(type) ?? [];
  return length ? (text) => text.endsWith(' ') && [...text].length > Number(length) : undefined;
}

/** A table as its options describe it, in the SQL of one database, and what a look at it has found. */
export class TableSpec {
  /** As it was given, and quoted. */
  readonly given: string;
  readonly name: string;
  /** The columns in their order: the namespace, those of a plant, further ones of the app. */
  readonly names: readonly string[];
  /** The same, those of the app quoted. */
  readonly columns: readonly string[];
  /** What is unique: the columns of the namespace and the id, as in `columns`. */
  readonly key: readonly string[];
  /** Whether it has no columns of the app. */
  readonly isPlain: boolean;
  /** Whether a look has found it. */
  isKnown = false;
  /** Each column in `CREATE TABLE`. All columns of the app have the same type: a start. */
  readonly #types: readonly string[];
  #checks: { i: number; column: Column; isChanged: (text: string) => boolean }[] = [];

  /** What `find` selects. Not the id, which drivers round, and at which node:sqlite throws. */
  readonly found = members
    .slice(1)
    .map((member) => `plant.${member}`)
    .join(', ');

  /** @throws {TypeError} if a name is invalid */
  constructor(
    readonly dialect: Dialect,
    { table = 'plants', namespace, columns }: TableOptions<never>,
  ) {
    const { types, text } = dialect;
    const spaces = Object.keys(namespace ?? {});
    const further = Object.keys(columns ?? {});
    const quoted = (name: string) => quote('a column', name, dialect);
    this.given = table;
    this.name = quote('table', table, dialect, dialect.container);
    this.names = [...spaces, ...members, ...further];
    this.columns = [...spaces.map(quoted), ...members, ...further.map(quoted)];
    this.isPlain = this.names.length === members.length;
    this.key = this.columns.slice(0, spaces.length + 1);
    const isKey = (type: string) => (spaces.length > 0 ? type.replace('PRIMARY KEY', 'NOT NULL') : type);
    this.#types = [
      ...spaces.map(() => `${text} NOT NULL`),
      ...members.map((member) => isKey(types[member])),
      ...further.map(() => text),
    ];
    const lower = this.names.map((name) => name.toLowerCase());
    const repeated = this.names.find((_, i) => lower.indexOf(lower[i]!) < i);
    if (repeated !== undefined) throw new TypeError(`the table has one column ${repeated}, not two`);
  }

  /** The SQL that creates the table. */
  get schema(): string {
    const definitions = this.columns.map((column, i) => `${column} ${this.#types[i]}`);
    if (this.key.length > 1) definitions.push(`PRIMARY KEY (${this.key.join(', ')})`);
    return `CREATE TABLE IF NOT EXISTS ${this.name} (${definitions.join(', ')})${this.dialect.ending ?? ''}`;
  }

  /**
   * Takes what a look has found; none if there is no table. Returns the columns in the order of the table's.
   *
   * @throws {Rejection} if one is missing, or would change the values that it is given
   */
  learn(found: readonly Column[]): Column[] {
    const { exact, changes } = this.dialect;
    this.isKnown = false;
    this.#checks = [];
    if (found.length === 0) return [];
    const columns = this.names.map((name, i) => {
      const column = found.find((other) => other.name.toLowerCase() === name.toLowerCase());
      const needed = this.#types[i]!.replace(/ (NOT NULL|PRIMARY KEY)$/, '');
      if (!column)
        throw this.unusable(
          `it has no column ${name}. Run: ALTER TABLE ${this.name} ADD ${this.columns[i]} ${needed}`,
        );
      const { type, base = type } = column;
      const isSpace = i < this.key.length - 1;
      // A further column of the app rounds as the app likes.
      const holds = isSpace ? exact.namespace : exact[members[i - this.key.length + 1]!];
      if (holds?.test(base) === false)
        throw this.unusable(
          `its column ${name} is ${type}, which does not hold every ${name} exactly: use ${needed}`,
        );
      const isNumber = isSpace && /int|decimal|numeric/i.test(base);
      const isChanged = isNumber ? (value: string) => !isInt64(value) : changes?.(base);
      if (isChanged) this.#checks.push({ i, column, isChanged });
      return column;
    });
    this.isKnown = true;
    return columns;
  }

  /** The error of a value that a column would change without one. */
  changeOf(rows: Rows): Rejection | undefined {
    const { sent = textOf } = this.dialect;
    for (const { i, column, isChanged } of this.#checks) {
      if (!rows.some(({ [i]: value }) => value != null && isChanged(String(sent(value))))) continue;
      const why = `the column ${column.name}, ${column.type}, would change the value`;
      return new Rejection('apart', new Error(why));
    }
    return undefined;
  }

  unusable(why: string, cause?: unknown): Rejection {
    const error = new SetupError(`plant-store cannot use the table ${this.name}: ${why}`, { cause });
    return new Rejection('apart', error);
  }

  /** The error of every create after an error of the database, with the remedy. The next create looks again. */
  faulty(fault: Fault, error?: unknown): Rejection {
    const { name, schema, isPlain } = this;
    this.isKnown = false;
    const said = (error as Error)?.message;
    const key = this.key.join(', ');
    const why = {
      login: `${said}. Check user, password and database in the settings of the pool`,
      denied: `${said}. Run: GRANT SELECT, INSERT ON ${name} TO …`,
      'not unique': `it needs a unique index of exactly (${key}). Run: CREATE UNIQUE INDEX plants_key ON ${name} (${key})`,
      missing: `it does not exist. ${isPlain ? `Call storage.createTable(), or run: ${schema}` : 'Write a migration from what schemaOf returns'}`,
    };
    return this.unusable(why[fault], error);
  }
}

/** The `schemaOf` of a database. */
export function schemaOfIn(dialect: Dialect): (options?: TableOptions<never>) => string {
  return (options = {}) => new TableSpec(dialect, options).schema;
}

/** @throws {TypeError} if it is no such name */
function quote(what: string, name: unknown, { mark, maxBytes = 1e9 }: Dialect, container?: string): string {
  const parts = container ? String(name).split('.') : [String(name)];
  const isName = (part: string) =>
    part !== '' && !part.includes('\0') && new TextEncoder().encode(part).length <= maxBytes;
  if (typeof name !== 'string' || parts.length > 2 || !parts.every(isName)) {
    const limit = maxBytes < 1e9 ? ` of at most ${maxBytes} bytes` : '';
    const orBoth = container ? `, or ${container}.name` : '';
    throw new TypeError(`${what} must be a name${limit}${orBoth}`);
  }
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
