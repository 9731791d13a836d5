import { type CreateMany, type GroupCommitOptions, groupCommit, type PlantStorage } from '../../src/index.js';

/** The options of the SQL storages. Their tables are one namespace. */
export interface SqlOptions extends Omit<GroupCommitOptions, 'namespace'> {
  /**
   * The table's name; it is quoted. In PostgreSQL its schema, in MySQL its database may stand in front, with a dot
   * between: `garden.plants`. Default: `plants`.
   */
  readonly table?: string | undefined;
}

/** A storage that can read its plants and make its table. */
export interface SqlStorage extends PlantStorage {
  /** Makes the table unless there is one. Safe while other instances do the same, and can be called again. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

/** `groupCommit` with the options of an SQL storage. */
export function commitTogether(createMany: CreateMany<unknown>, options: SqlOptions): PlantStorage {
  const { table: _, ...groupOptions } = options;
  if ('namespace' in groupOptions) {
    throw new TypeError(
      'namespace is not supported here: the table has one id column for all callers; use groupCommit directly',
    );
  }
  return groupCommit(createMany, groupOptions);
}

/**
 * Quotes the name of a table.
 *
 * @param name `plants` unless given
 * @param mark the quotation mark of the database
 * @param container what may stand before the name, with a dot between; without it a dot is part of the name
 * @param maxBytes the longest name, in bytes of UTF-8, if the database cuts longer ones
 * @throws {TypeError} if it is no such name
 */
export function quote(name: unknown = 'plants', mark: string, container?: string, maxBytes = 0): string {
  const parts = container ? String(name).split('.') : [String(name)];
  const isTooLong = (part: string) => maxBytes > 0 && new TextEncoder().encode(part).length > maxBytes;
  const isName = (part: string) => part !== '' && !part.includes('\0') && !isTooLong(part);
  if (typeof name !== 'string' || parts.length > 2 || !parts.every(isName)) {
    const limit = maxBytes > 0 ? ` of at most ${maxBytes} bytes` : '';
    const orBoth = container ? `, or a ${container} and a name with a dot between` : '';
    throw new TypeError(`table must be a name${limit}${orBoth}`);
  }
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
