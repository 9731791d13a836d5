import {
  type BatchCall,
  type CreateMany,
  type CreateOutcome,
  type GroupCommitOptions,
  type GroupCommitStorage,
  groupCommit,
  type NewPlant,
  PlantRefused,
  type PlantStorage,
} from '../../src/index.js';
import { callApp, plantOf, type Row, type Rows, rowMaker } from './_rows.js';
import { migrate, Rejection, SetupError, type TableOptions } from './_table.js';

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
export interface SqlStorage<Caller = unknown> extends GroupCommitStorage<Caller> {
  /**
   * Creates the table unless it exists. Safe to repeat, and while other instances do the same. Rejects with `namespace`
   * or `columns`, whose types only you know: create that table with a migration, from what `schemaOf` returns.
   */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage<Caller>['find']>;
}

/** A table of a database, by its rows. */
export interface StoredTable {
  /** @throws {Rejection} if nothing was stored */
  insert(rows: Rows, call: BatchCall): Promise<CreateOutcome[]> | CreateOutcome[];
  /** @param key the namespace's values and the id, which begin each row */
  find(key: Row): Promise<Record<string, unknown> | undefined>;
  createTable(): Promise<void>;
}

/** Stores plants in a table by `groupCommit`. */
export function sqlStorage<Caller>(table: StoredTable, options: SqlOptions<Caller>): SqlStorage<Caller> {
  const { table: _, namespace: __, columns: ___, refuse = () => undefined, ...groupOptions } = options;
  if (typeof refuse !== 'function') throw new TypeError('refuse must be a function');
  const rows = rowMaker(options);
  const explained = (error: unknown, plants: readonly NewPlant[]): CreateOutcome[] => {
    if (!(error instanceof Rejection)) throw error;
    const { cause } = error;
    if (cause instanceof SetupError) return plants.map(() => error);
    if (plants.length > 1) throw error;
    const isValid = (text: unknown) => /string|undefined/.test(typeof text);
    const must = 'refuse must return a string or undefined';
    const text = callApp(() => refuse(cause, plants[0]!), isValid, must, cause);
    if (text === undefined) throw error;
    return [new PlantRefused(text, { cause })];
  };
  // Not async: a driver that blocks has then settled the call when it returns.
  const createMany: CreateMany<Caller> = (plants, contexts, call) => {
    try {
      const inserting = table.insert(rows.rowsOf(plants, contexts), call);
      return inserting instanceof Promise ? inserting.catch((error) => explained(error, plants)) : inserting;
    } catch (error) {
      return explained(error, plants);
    }
  };
  const namespace = rows.isPlain ? undefined : rows.namespaceOf;
  const { create, state } = groupCommit(createMany, { ...groupOptions, namespace });
  return {
    create: rows.isPlain ? create : async (plant, context) => create(plant, rows.prepare(context)),
    state,
    find: async (id, context) => plantOf(id, await table.find(rows.keyOf(id, context))),
    async createTable() {
      if (rows.isPlain) return table.createTable();
      throw new Error(migrate);
    },
  };
}
