import { checkNames, groupCommitRules, mayQuote } from '../../../src/for-storages.js';
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
} from '../../../src/index.js';
import { migrate, Rejection, SetupError } from './rejection.js';
import { callApp, namespaceOf, plantOf, type Row, type Rows, type RowValues, rowMaker } from './rows.js';
import type { TableOptions } from './table.js';

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
  /**
   * Checks before the first create that the table can be used: it creates plants in a transaction that it rolls back, with values
   * of its own in columns of yours. Triggers run, so what one does outside of the transaction is done; a sequence goes on.
   *
   * @throws {Error} if creates would fail: what is wrong and what to do, in one sentence
   *
   * @example
   * ```ts
   * import pg from 'pg';
   *
   * const storage = postgresStorage(new pg.Pool());
   * await storage.check();
   * ```
   */
  readonly check: () => Promise<CheckReport>;
  readonly find: NonNullable<PlantStorage<Caller>['find']>;
}

/** What `check` has found of a table that can be used. */
export interface CheckReport {
  /**
   * What it could not ask, in sentences: if the database rejects the plants that it tries (with the database's words), or if the
   * handle has no transaction. Empty: plants were created, found taken, and rolled back.
   */
  readonly notAsked: readonly string[];
}

/** A table of a database, by its rows. */
export interface StoredTable {
  /**
   * Inserts rows, of which no two have the same key.
   *
   * @throws {Rejection} if the database rejected them, and surely stored nothing
   * @throws {RolledBack} if it surely stored nothing, and to send them again may help
   * @throws {StorageBusy} if it is unavailable, and surely stored nothing
   * Anything else thrown means that they may or may not be stored.
   */
  insert(rows: Rows, call: BatchCall): Promise<CreateOutcome[]> | CreateOutcome[];
  /** @param key the namespace's values and the id, which begin each row */
  find(key: Row): Promise<Record<string, unknown> | undefined>;
  createTable(): Promise<void>;
  /** @throws {Error} if creates would fail */
  check(): Promise<CheckReport>;
}

/** @throws {TypeError} if these are no options of an SQL storage */
export function checkSqlOptions(options: object): void {
  // Both have a `namespace`.
  const names = new Set(['table', 'namespace', 'columns', 'refuse', ...Object.keys(groupCommitRules())]);
  checkNames(options, [...names]);
}

/** Stores plants in a table by `groupCommit`. */
export function sqlStorage<Caller>(table: StoredTable, options: SqlOptions<Caller>): SqlStorage<Caller> {
  const { table: _, namespace: __, columns: ___, refuse = () => undefined, ...groupOptions } = options;
  if (typeof refuse !== 'function') throw new TypeError('refuse must be a function');
  const rows = rowMaker(options);
  const createMany = createManyIn(table, rows, refuse);
  const namespace = rows.isPlain ? undefined : namespaceOf;
  const group = groupCommit(createMany, {
    ...(groupOptions as GroupCommitOptions<RowValues>),
    namespace,
  });
  // Without columns of the app, nothing of the caller is read.
  const create: PlantStorage<Caller>['create'] = rows.isPlain
    ? (group.create as PlantStorage<unknown>['create'])
    : async (plant, context) => group.create(plant, rows.contextOf(context));
  return {
    ...group,
    create,
    async find(id, context) {
      const key = rows.keyOf(id, context);
      try {
        return plantOf(id, await table.find(key));
      } catch (error) {
        mayQuote(error, key, context?.request);
        throw error;
      }
    },
    async createTable() {
      if (rows.isPlain) return table.createTable();
      throw new Error(`createTable knows no types of your columns: ${migrate}`);
    },
    check: () => table.check(),
  };
}

/** How the plants of a call become rows, and what becomes of them if it fails. */
function createManyIn(
  table: StoredTable,
  rows: Pick<ReturnType<typeof rowMaker>, 'rowsOf'>,
  refuse: Refuse,
): CreateMany<RowValues> {
  /** Returns what becomes of the plants of a call that failed. */
  const outcomesAfter = (error: unknown, plants: readonly NewPlant[]): CreateOutcome[] => {
    if (!(error instanceof Rejection)) throw error;
    if (error.cause instanceof SetupError) return plants.map(() => error);
    // Which of several plants is rejected shows when they are sent in parts.
    if (plants.length > 1) throw error;
    const text = textOfApp(refuse, error.cause, plants[0]!);
    if (text === undefined) throw error;
    return [new PlantRefused(text, { cause: error.cause })];
  };
  // Not async: a driver that blocks has then settled the call when it returns.
  return (plants, contexts, call) => {
    const sent = rows.rowsOf(plants, contexts);
    const onError = (error: unknown) => {
      mayQuote(error, sent, ...contexts.map((context) => context?.request));
      return outcomesAfter(error, plants);
    };
    try {
      const inserting = table.insert(sent, call);
      return inserting instanceof Promise ? inserting.catch(onError) : inserting;
    } catch (error) {
      return onError(error);
    }
  };
}

/** Returns the text for the client of a plant that the database rejected, or `undefined` if the app has none. */
function textOfApp(refuse: Refuse, cause: unknown, plant: NewPlant): string | undefined {
  const isValid = (text: unknown) => text === undefined || typeof text === 'string';
  return callApp(() => refuse(cause, plant), isValid, 'refuse must return a string or undefined', cause);
}
