import {
  type BatchCall,
  type CreateOutcome,
  type GroupCommitOptions,
  groupCommit,
  type MaybePromise,
  type NewPlant,
  PlantRefused,
  type PlantStorage,
  RolledBack,
} from '../../src/index.js';
import { plantOf } from './_columns.js';
import { ignoreRejection, ofApp, type Row, RowMaker, type Rows } from './_rows.js';
import type { TableOptions } from './_table.js';

/** The options of the SQL storages. */
export interface SqlOptions<Caller = unknown>
  extends Omit<GroupCommitOptions<Caller>, 'namespace'>,
    TableOptions<Caller> {
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
export interface SqlStorage<Caller = unknown> extends PlantStorage<Caller> {
  /**
   * Creates the table unless it exists. Safe to repeat, and while other instances do the same. Rejects with `namespace`
   * or `columns`, whose types only you know: create that table with a migration, from what `schemaOf` returns.
   */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage<Caller>['find']>;
}

/** A table of a database, by its rows. */
export interface StoredTable {
  /** @param plants one for each row */
  insert(plants: readonly NewPlant[], rows: Rows, call: BatchCall): MaybePromise<CreateOutcome[]>;
  /** @param key the namespace's values and the id, which begin each row */
  find(key: Row): Promise<Record<string, unknown> | undefined>;
  create(): Promise<void>;
}

/** Stores plants in a table by `groupCommit`. */
export function sqlStorage<Caller>(table: StoredTable, options: SqlOptions<Caller>): SqlStorage<Caller> {
  const { table: _, namespace: __, columns: ___, refuse, ...groupOptions } = options;
  if (refuse !== undefined && typeof refuse !== 'function') throw new TypeError('refuse must be a function');
  const rows = new RowMaker(options);
  const { create } = groupCommit<Caller>(
    (plants, contexts, call) => table.insert(plants, rows.rowsOf(plants, contexts), call),
    { ...groupOptions, namespace: rows.isExtended ? (context) => rows.namespaceOf(context) : undefined },
  );
  return {
    create: rows.isExtended ? async (plant, context) => create(plant, rows.prepare(context)) : create,
    find: async (id, context) => plantOf(id, await table.find(rows.keyOf(id, context))),
    async createTable() {
      if (!rows.isExtended) return table.create();
      throw new Error(
        'createTable does not know the types of your columns: create the table with a migration, from what schemaOf returns',
      );
    },
  };
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
  if (!refuse || others.length > 0) throw new RolledBack('apart', error);
  const text: unknown = ofApp(() => refuse(error, plant!));
  if (typeof text === 'string') return [new PlantRefused(text, { cause: error })];
  ignoreRejection(text);
  const wrong = 'refuse must return a string or undefined, and must not be async';
  throw new RolledBack('apart', text === undefined ? error : new TypeError(wrong, { cause: error }));
}
