import type { NewPlant } from '../../src/index.js';
import { members, type RowOptions } from './_rows.js';

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

/** The names of a table and its columns, in the SQL of one database. */
export class Table {
  /** Quoted. */
  readonly name: string;
  /** The columns in their order: the namespace, those of a plant, further ones of the app. */
  readonly names: readonly string[];
  /** The same, those of the app quoted. */
  readonly columns: readonly string[];
  /** What is unique: the columns of the namespace and the id, as in `columns`. */
  readonly key: readonly string[];

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
    const spaces = Object.keys(namespace ?? {});
    this.name = quote('table', table, dialect, dialect.container);
    this.names = [...spaces, ...members, ...Object.keys(columns ?? {})];
    const isOwn = (name: string) => !Object.hasOwn(dialect.types, name);
    this.columns = this.names.map((name) => (isOwn(name) ? quote('a column', name, dialect) : name));
    this.key = this.columns.slice(0, spaces.length + 1);
    const lower = this.names.map((name) => name.toLowerCase());
    const repeated = this.names.find((_, i) => lower.indexOf(lower[i]!) < i);
    if (repeated !== undefined) throw new TypeError(`the table has one column ${repeated}, not two`);
  }

  /** The SQL that creates the table. All columns of the app have the same type: a start. */
  get schema(): string {
    const { types, text, ending = '' } = this.dialect;
    const isShort = this.key.length === 1;
    const definitions = this.names.map((name, i) => {
      const type = Object.hasOwn(types, name) ? types[name as keyof NewPlant] : text;
      if (isShort || i >= this.key.length) return `${this.columns[i]} ${type}`;
      return `${this.columns[i]} ${type.replace(' PRIMARY KEY', '')} NOT NULL`;
    });
    if (!isShort) definitions.push(`PRIMARY KEY (${this.key.join(', ')})`);
    return `CREATE TABLE IF NOT EXISTS ${this.name} (${definitions.join(', ')})${ending}`;
  }
}

/** The `schemaOf` of a database. */
export function schemaOfIn(dialect: Dialect): (options?: TableOptions<never>) => string {
  return (options = {}) => new Table(dialect, options).schema;
}

/** @throws {TypeError} if it is no such name */
function quote(what: string, name: unknown, { mark, maxBytes = 0 }: Dialect, container?: string): string {
  const parts = container ? String(name).split('.') : [String(name)];
  const isTooLong = (part: string) => maxBytes > 0 && new TextEncoder().encode(part).length > maxBytes;
  const isName = (part: string) => part !== '' && !part.includes('\0') && !isTooLong(part);
  if (typeof name !== 'string' || parts.length > 2 || !parts.every(isName)) {
    const limit = maxBytes > 0 ? ` of at most ${maxBytes} bytes` : '';
    const orBoth = container ? `, or a ${container} and a name with a dot between` : '';
    throw new TypeError(`${what} must be a name${limit}${orBoth}`);
  }
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
