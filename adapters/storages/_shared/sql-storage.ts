import { checkNames, groupCommitRules, own, ownWords, wordsBefore } from '../../../src/for-storages.js';
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
  type RolledBack,
  type StorageContext,
} from '../../../src/index.js';
import { migrate, Rejection, wordsOf } from './rejection.js';
import {
  callApp,
  namespaceOf,
  plantOf,
  type Row,
  type RowMaker,
  type Rows,
  type RowValues,
  rowMaker,
} from './rows.js';
import type { TableOptions } from './table.js';
import type { SamplePlant, Trial } from './try-out.js';

/** The options of the SQL storages. */
export interface SqlOptions<Caller = unknown>
  extends Omit<GroupCommitOptions<Caller>, 'namespace' | 'blocksEventLoop'>,
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
   * Creates the table unless it exists. Safe to repeat, and while other instances do the same. Rejects if you use `namespace` or
   * `columns`, because only you know their types: create that table with a migration, from what `schemaOf` returns.
   */
  readonly createTable: () => Promise<void>;
  /**
   * Checks that creates work, before the first one. It creates a plant without a tag and one with a tag, with free ids, and rolls them
   * back. Triggers run, so what they do outside of the transaction stays; sequences advance. Through a PGlite or a connected Client of
   * `pg`, which the app may use at the same time, it only tries an INSERT of no rows.
   *
   * @param trial `plant`: one that your own rules accept, if they reject the plants that it invents; only this one is then created.
   * `context`: what the functions of `namespace` and `columns` are called with.
   * @throws {StorageBusy} if it may work when it is called again: no connection, a lock, a failover
   * @throws {Error} if something needs a change: what is wrong and what to do, in one sentence
   *
   * @example
   * ```ts
   * import pg from 'pg';
   *
   * const storage = postgresStorage(new pg.Pool());
   * await storage.check();
   * ```
   */
  readonly check: (trial?: CheckTrial<Caller>) => Promise<void>;
  readonly find: NonNullable<PlantStorage<Caller>['find']>;
}

/** What `check` creates. */
export interface CheckTrial<Caller = unknown> {
  /** Without an id, it gets one that is free. Default: plants that `check` invents. */
  readonly plant?: SamplePlant | undefined;
  readonly context?: (Pick<StorageContext<Caller>, 'caller'> & Partial<StorageContext<Caller>>) | undefined;
}

/** A table of a database, by its rows. */
export interface StoredTable {
  /** Whether its driver blocks the event loop. Default: false. */
  readonly blocksEventLoop?: boolean;
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
  check(trial: Trial): Promise<void>;
}

/**
 * Returns the options that were given, without inherited ones.
 *
 * @throws {TypeError} if these are no options of an SQL storage
 */
export function checkSqlOptions<Caller>(options: SqlOptions<Caller>): SqlOptions<Caller> {
  // Both have a `namespace`. Whether the driver blocks is not for the app to say.
  const { blocksEventLoop, ...rules } = groupCommitRules();
  const names = new Set(['table', 'names', 'namespace', 'columns', 'refuse', ...Object.keys(rules)]);
  checkNames(options, [...names]);
  return own(options);
}

/** Stores plants in a table by `groupCommit`. */
export function sqlStorage<Caller>(table: StoredTable, options: SqlOptions<Caller>): SqlStorage<Caller> {
  const { table: _, names: __, namespace: ___, columns: ____, refuse = () => undefined, ...others } = options;
  if (typeof refuse !== 'function') throw new TypeError('refuse must be a function');
  const rows = rowMaker(options);
  const createMany = createManyIn(table, rows, refuse, options.table);
  const namespace = rows.isPlain ? undefined : namespaceOf;
  const group = groupCommit(createMany, {
    ...(others as GroupCommitOptions<RowValues>),
    blocksEventLoop: table.blocksEventLoop,
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
      return plantOf(id, await table.find(rows.keyOf(id, context)));
    },
    async createTable() {
      if (rows.isPlain) return table.createTable();
      throw new Error(`createTable knows no types of your columns: ${migrate}`);
    },
    check: async (trial) => table.check(trialOf(rows, trial)),
  };
}

/** @throws {Error} if the functions of the app's columns fail */
function trialOf<Caller>(rows: RowMaker<Caller>, { plant, context }: CheckTrial<Caller> = {}): Trial {
  const { id = 0n, name, tag = '' } = plant ?? { name: '' };
  if (typeof id !== 'bigint' || typeof name !== 'string' || typeof tag !== 'string')
    throw new TypeError("check takes { plant: { name: 'Rosa', tag: 'rose' } }, with or without an id: 1n");
  const signal = new AbortController().signal;
  const created = { request: { method: 'POST', url: '/plants', headers: {} }, signal, ...context };
  try {
    const given = rows.contextOf(created as StorageContext<Caller>);
    return { plant, rowOf: (each) => rows.rowsOf([each], [given])[0]! };
  } catch (error) {
    const { cause } = Object(error) as Partial<RolledBack>;
    const why = `the functions of your columns fail for its context (${wordsOf(cause)})`;
    throw new Error(`${why}. Pass one: check({ context: { caller: ... } })`, { cause });
  }
}

/** How the plants of a call become rows, and what becomes of them if it fails. */
function createManyIn(
  table: StoredTable,
  rows: Pick<RowMaker<never>, 'rowsOf'>,
  refuse: Refuse,
  name = 'plants',
): CreateMany<RowValues> {
  /** Returns what becomes of the plants of a call that failed. */
  const outcomesAfter = (error: unknown, plants: readonly NewPlant[]): CreateOutcome[] => {
    if (!(error instanceof Rejection)) {
      wordsBefore(error, unanswered);
      throw error;
    }
    // Which of several plants is rejected shows when they are sent in parts.
    if (error.reason === 'unusable' || plants.length > 1) throw error;
    const text = textOfApp(refuse, error.cause, plants[0]!);
    if (text === undefined) {
      // MySQL and SQLite do not name it.
      throw error.why ? error : ownWords(error, `the database rejects a plant for the table ${name}`);
    }
    return [new PlantRefused(text, { cause: error.cause })];
  };
  // Not async: a driver that blocks has then settled the call when it returns.
  return (plants, contexts, call) => {
    const sent = rows.rowsOf(plants, contexts);
    const onError = (error: unknown) => outcomesAfter(error, plants);
    try {
      const inserting = table.insert(sent, call);
      return inserting instanceof Promise ? inserting.catch(onError) : inserting;
    } catch (error) {
      return onError(error);
    }
  };
}

const unanswered = 'the connection failed before the database said what it stored';

/** Returns the text for the client of a plant that the database rejected, or `undefined` if the app has none. */
function textOfApp(refuse: Refuse, cause: unknown, plant: NewPlant): string | undefined {
  const isValid = (text: unknown) => text === undefined || typeof text === 'string';
  return callApp(() => refuse(cause, plant), isValid, 'refuse must return a string or undefined', cause);
}
