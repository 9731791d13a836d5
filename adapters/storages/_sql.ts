import {
  type CreateMany,
  type CreateOutcome,
  type GroupCommitOptions,
  groupCommit,
  type NewPlant,
  PlantRefused,
  type PlantStorage,
  RolledBack,
} from '../../src/index.js';

/** The options of the SQL storages. Their tables are one namespace. */
export interface SqlOptions extends Omit<GroupCommitOptions, 'namespace'> {
  /**
   * The table's name; it is quoted. In PostgreSQL its schema, in MySQL its database may stand in front, with a dot
   * between: `garden.plants`. Default: `plants`.
   */
  readonly table?: string | undefined;
  /**
   * Called with the database's error if it definitely rejected this plant: a constraint, a trigger, a limit. Never called
   * after a timeout or if the plant may be stored. Return a text for the client, which gets it with status 400 (40004),
   * or `undefined` for status 500 (50004). Do not return `error.message`, which can reveal your schema.
   *
   * @example
   * ```ts
   * import pg from 'pg';
   *
   * const storage = postgresStorage(new pg.Pool(), {
   *   refuse: (error) =>
   *     (error as { constraint?: string }).constraint === 'plants_name_key' ? 'a plant of this name exists' : undefined,
   * });
   * ```
   */
  readonly refuse?: Refuse | undefined;
}

export type Refuse = (error: unknown, plant: NewPlant) => string | undefined;

/** A storage that can read its plants and create its table. */
export interface SqlStorage extends PlantStorage {
  /** Creates the table unless it exists. Safe to repeat, and while other instances do the same. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

/**
 * Returns the outcome that `refuse` chooses for a plant that the database rejected alone.
 *
 * @throws {RolledBack} if there are several, or `refuse` returns no text
 */
export function rejected(
  error: unknown,
  [plant, ...others]: readonly NewPlant[],
  refuse: Refuse | undefined,
): CreateOutcome[] {
  const text = refuse && others.length === 0 ? textOf(() => refuse(error, plant!), error) : undefined;
  if (text === undefined) throw new RolledBack('apart', error);
  return [new PlantRefused(text, { cause: error })];
}

/** @throws {RolledBack} if `refuse` throws or returns neither a string nor `undefined` */
function textOf(refuse: () => unknown, cause: unknown): string | undefined {
  let text: unknown;
  try {
    text = refuse();
  } catch (thrown) {
    throw new RolledBack('apart', thrown);
  }
  if (text === undefined || typeof text === 'string') return text;
  // Its own rejection, if it is a promise, would otherwise crash the process.
  Promise.resolve(text).catch(() => {});
  const wrong = new TypeError('refuse must return a string or undefined, and must not be async', { cause });
  throw new RolledBack('apart', wrong);
}

/** `groupCommit` with the options of an SQL storage. */
export function commitTogether(createMany: CreateMany<unknown>, options: SqlOptions): PlantStorage {
  const { table: _, refuse, ...groupOptions } = options;
  if (refuse !== undefined && typeof refuse !== 'function') throw new TypeError('refuse must be a function');
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
