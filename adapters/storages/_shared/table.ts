import { kindOf, own } from '../../../src/for-storages.js';
import type { NewPlant } from '../../../src/index.js';
import { members, type RowOptions, type Value } from './rows.js';

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
  /** The table's name; it is quoted. A schema (PostgreSQL) or a database (MySQL) may precede it: `garden.plants`. Default: `plants`. */
  readonly table?: string | undefined;
  /**
   * The names of the columns that differ from the members of a plant. Default: `id`, `name` and `tag`.
   *
   * @example
   * ```ts
   * import pg from 'pg';
   *
   * const names = { id: 'plant_no', name: 'title', tag: 'kind' };
   * const storage = postgresStorage(new pg.Pool(), { table: 'garden', names });
   * ```
   */
  readonly names?: MemberNames | undefined;
}

type MemberNames = { readonly [Member in keyof NewPlant]?: string | undefined };

/** A table as its options describe it, in the SQL of one database: what is fixed. What a look learns is in `columns.ts`. */
export type TableSpec = ReturnType<typeof specOf>;

/** @throws {TypeError} if a name is invalid */
export function specOf(dialect: Dialect, options: TableOptions<never>) {
  const { table = 'plants', namespace } = options;
  const { container, ending = '' } = dialect;
  const columns = columnsOf(dialect, options);
  const keyLength = Object.keys(namespace ?? {}).length + 1;
  const key = columns.slice(0, keyLength).map(({ quoted }) => quoted);
  // The namespace, the id and the name.
  const lines = columns.map(({ definition }, i) => (i > keyLength ? definition : `${definition} NOT NULL`));
  if (keyLength > 1) lines.push(`PRIMARY KEY (${key.join(', ')})`);
  else lines[0] = `${columns[0]!.definition} PRIMARY KEY`;
  const name = quote('table', table, dialect, container);
  return {
    dialect,
    /** Its schema or database, if one was given, and its name: neither is quoted. */
    container: container && table.includes('.') ? table.split('.')[0]! : undefined,
    table: container ? table.split('.').at(-1)! : table,
    /** Both, quoted. */
    name,
    /** In their order: those of the namespace, those of a plant, further ones of the app. */
    columns,
    /** What is unique: the columns of the namespace and the id, quoted. */
    key,
    /** Whether it has no columns of the app. */
    isPlain: columns.length === members.length,
    /** What `find` selects of the table, AS plant. Not the id, which drivers round, and at which node:sqlite throws. */
    found: columns
      .flatMap(({ member, quoted }) =>
        member && member !== 'id' ? `plant.${quoted} AS ${quote('column', member, dialect)}` : [],
      )
      .join(', '),
    /** The SQL that creates the table, and may be followed by another statement. */
    schema: `CREATE TABLE IF NOT EXISTS ${name} (${lines.join(', ')})${ending};`,
  };
}

/** @throws {TypeError} if a name is invalid, or two are one */
function columnsOf(dialect: Dialect, { names, namespace, columns: further }: TableOptions<never>) {
  const ofApp = (functions?: object) =>
    Object.keys(functions ?? {}).map((name) => ({ name, member: undefined, what: 'column' }));
  const named = [...ofApp(namespace), ...columnsOfPlant(names), ...ofApp(further)];
  const columns = named.map(({ name, member, what }) => {
    const quoted = quote(what, name, dialect);
    // All columns of the app have the same type: a start.
    const type = member ? dialect.types[member] : dialect.text;
    return { name, member, quoted, definition: `${quoted} ${type}` };
  });
  const all = columns.map(({ name }) => name);
  if (new Set(all.map((name) => name.toLowerCase())).size < all.length)
    throw new TypeError(`columns must have different names, got ${all.join(', ')}`);
  return columns;
}

/** @throws {TypeError} if these are no names, or of something else than members */
function columnsOfPlant(names: MemberNames = {}) {
  const isObject = names !== null && typeof names === 'object';
  const given = new Map<string, unknown>(isObject ? Object.entries(names) : []);
  const unknown = [...given.keys()].find((name) => !members.some((member) => member === name));
  if (!isObject || unknown !== undefined)
    throw new TypeError(
      `names must be the columns of ${members.join(', ')}, such as { id: 'plant_no' }, got ${unknown ?? kindOf(names)}`,
    );
  return members.map((member) => {
    const name = given.get(member);
    return { name: (name === undefined ? member : name) as string, member, what: `names.${member}` };
  });
}

/** The `schemaOf` of a database. */
export function schemaOfIn(dialect: Dialect): (options?: TableOptions<never>) => string {
  return (options = {}) => specOf(dialect, own(options)).schema;
}

/** @throws {TypeError} if it is no such name */
function quote(what: string, name: unknown, { mark, checkName }: Dialect, container?: string): string {
  const parts = container ? String(name).split('.') : [String(name)];
  if (typeof name !== 'string' || parts.length > 2 || parts.some((part) => !part || part.includes('\0')))
    throw new TypeError(`${what} must be a name${container ? `, or ${container}.name` : ''}`);
  if (checkName) parts.forEach(checkName);
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
