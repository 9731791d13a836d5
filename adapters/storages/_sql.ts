import { type GroupCommitOptions, type PlantStorage, RolledBack } from '../../src/index.js';

/** The options of the SQL storages. Their tables are one namespace. */
export interface SqlOptions extends Omit<GroupCommitOptions, 'namespace'> {
  /** The table's name; it is quoted. Default: `plants`. */
  readonly table?: string | undefined;
}

/** A storage that can read its plants and make its table. */
export interface SqlStorage extends PlantStorage {
  /** Makes the table unless there is one. Safe while other instances do the same, and can be called again. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

/**
 * What an error says of the plants that were sent. `transient`: nothing was stored, and sending again may help.
 * `permanent`: nothing was stored, and sending again cannot help. `plantAtFault`: nothing was stored, because of a
 * plant of the batch. `unknown`: the plants may or may not be stored.
 */
export type Meaning = 'transient' | 'permanent' | 'plantAtFault' | 'unknown';

/** The error to throw at `groupCommit`, which sends again what was surely rolled back. */
export function classified(error: unknown, meaning: Meaning): unknown {
  if (meaning === 'transient') return new RolledBack('together', error);
  if (meaning === 'plantAtFault') return new RolledBack('apart', error);
  return error;
}

/**
 * Quotes the name of a table.
 *
 * @param mark the quotation mark of the database
 * @param container what may stand before the name, with a dot between; without it a dot is part of the name
 * @throws {TypeError} if it is no such name
 */
export function quote(name: unknown, mark: string, container?: string): string {
  const parts = typeof name !== 'string' ? [] : container ? name.split('.') : [name];
  if (parts.length < 1 || parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    const orBoth = container ? `, or a ${container} and a name with a dot between` : '';
    throw new TypeError(`table must be a name${orBoth}`);
  }
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
