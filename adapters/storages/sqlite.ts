import { type CreateOutcome, groupCommit, type NewPlant, RolledBack, StorageBusy } from '../../src/index.js';
import { commitTogether, quote, rejected, type SqlOptions, type SqlStorage } from './_sql.js';
import { columns, foundIn, schemaOf } from './_sqlite-table.js';
import { membersOf, outcomesOf, plantOf, type Stored, textOf, UnusableTable } from './_table.js';

/** The part that this storage uses of a connection of `libsql`, `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the drivers' own types ask for this or that; a string is sent
  prepare(sql: string): { all(...values: any[]): unknown[] };
}

/** The options of `sqliteStorage`. */
export type SqliteOptions = SqlOptions;

/** What `sqliteStorage` returns. */
export type SqliteStorage = SqlStorage;

const members = membersOf(columns);
const list = members.join(', ');
// Without the id, which drivers round, and at which node:sqlite throws.
const plantList = members
  .filter((member) => member !== 'id')
  .map((member) => `plant.${member}`)
  .join(', ');

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf('"plants"');

/**
 * Stores plants in SQLite through your connection, which it neither configures nor closes. The connection's settings
 * decide what survives a power cut: `journal_mode=WAL` with `synchronous=FULL` does, `NORMAL` does not. Set
 * `busy_timeout` to 100 ms or less, because the driver blocks the event loop while it waits, and this storage retries
 * anyway. While the app has a transaction open on the connection, `create` fails, because the app's ROLLBACK would remove
 * the plant. All callers share one table. The database must be in UTF-8, the default: in UTF-16, SQLite changes U+FFFE
 * and U+FFFF.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import Database from 'libsql';
 *
 * const database = new Database('plants.db');
 * database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=100');
 * const storage = sqliteStorage(database);
 * await storage.createTable();
 * ```
 */
export function sqliteStorage(database: SqliteDatabase, options: SqliteOptions = {}): SqliteStorage {
  if (typeof database?.exec !== 'function' || typeof database.prepare !== 'function') {
    throw new TypeError("sqliteStorage needs an open database: pass new Database('plants.db')");
  }
  const table = new SqliteTable(database, options);
  return {
    ...commitTogether((plants) => table.insert(plants), options),
    find: (id) => whenFree(() => plantOf(id, table.find(id)), options),
    createTable: () => whenFree(() => table.create(), options),
  };
}

/** Runs `work` as soon as no other connection holds the lock, with the pauses and the timeout of a create. */
async function whenFree<T>(work: () => T, { timeoutMs }: SqliteOptions): Promise<T> {
  let result: { readonly value: T } | undefined;
  const attempt = (): CreateOutcome[] => {
    try {
      result = { value: work() };
      return ['created'];
    } catch (error) {
      throw isBusy(error) ? new RolledBack('together', error) : error;
    }
  };
  // groupCommit is what retries; the plant is never stored.
  await groupCommit(attempt, { timeoutMs }).create({ id: 0n, name: '' }, undefined as never);
  return result!.value;
}

/** A table of a database that may have other connections, in this process and in others. */
class SqliteTable {
  /** Statements that have worked. libsql cannot reuse a statement that failed, so it comes back only after success. */
  readonly #prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();

  /** Quoted. */
  readonly #name: string;
  #isUsable = false;
  /** An id, from the text as which it travels, in the type of its column: compared otherwise, no index is used. */
  #id = 'CAST(new.value AS INTEGER)';

  constructor(
    readonly database: SqliteDatabase,
    readonly options: SqliteOptions,
  ) {
    this.#name = quote(options.table, '"');
  }

  /** BEGIN around a single statement detects that the app has a transaction open. */
  insert(plants: readonly NewPlant[]): CreateOutcome[] {
    let step: 'begin' | 'insert' | 'commit' = 'begin';
    try {
      this.database.exec('BEGIN IMMEDIATE');
      step = 'insert';
      this.#look();
      const created = this.#insert(plants);
      const stored = created.length < plants.length ? this.#stored(plants) : [];
      step = 'commit';
      this.database.exec('COMMIT');
      return outcomesOf(plants, created, stored);
    } catch (error) {
      if (step !== 'begin') this.#rollBack();
      if (isBusy(error)) throw new RolledBack('together', error);
      if (error instanceof UnusableTable) return plants.map(() => new RolledBack('apart', error));
      if (step === 'insert') return rejected(error, plants, this.options.refuse);
      // After a failed COMMIT the plants may or may not be stored.
      if (step === 'commit' || !/within a transaction/.test(String(error))) throw error;
      const why =
        'the SQLite connection already has an open transaction: give plant-store its own connection';
      throw new StorageBusy(why, { cause: error });
    }
  }

  find(id: bigint): Record<string, unknown> | undefined {
    this.#look();
    const select = `SELECT ${plantList} FROM json_each(?) AS new JOIN ${this.#name} AS plant ON plant.id = ${this.#id}`;
    return this.#all<Record<string, unknown>>(select, [String(id)])[0];
  }

  create(): void {
    this.database.exec(schemaOf(this.#name));
    this.#look();
  }

  /** @throws {UnusableTable} if a column would change the values that it is given */
  #look(): void {
    if (this.#isUsable) return;
    const info = this.database
      .prepare('SELECT name, type FROM pragma_table_info(?)')
      .all(this.options.table ?? 'plants');
    const found = foundIn(this.#name, info as { name: string; type: string }[]);
    this.#isUsable = found.length > 0;
    if (found.some(({ name, affinity }) => name === 'id' && affinity === 'TEXT')) this.#id = 'new.value';
  }

  /** One statement and one JSON text per batch, because a call into SQLite costs more than an insert. */
  #insert(plants: readonly NewPlant[]): { key: string }[] {
    // Ids travel as text: drivers round beyond 2^53, and node:sqlite's `run()` throws on such an id after inserting it.
    const values = members.map((member, i) => {
      const value = `json_extract(value, '$[${i}]')`;
      return member === 'id' ? `CAST(${value} AS INTEGER)` : value;
    });
    const insert = `INSERT INTO ${this.#name} (${list}) SELECT ${values}
FROM json_each(?) WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS key`;
    const rows = plants.map((plant) => members.map((member) => textOf(plant[member])));
    return this.#all<{ key: string }>(insert, rows);
  }

  #stored(plants: readonly NewPlant[]): Stored[] {
    const select = `SELECT new.key AS n, CAST(plant.id AS TEXT) AS key
FROM json_each(?) AS new JOIN ${this.#name} AS plant ON plant.id = ${this.#id}`;
    return this.#all<Stored>(
      select,
      plants.map(({ id }) => String(id)),
    );
  }

  #all<Row>(sql: string, values: readonly unknown[]): Row[] {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.delete(sql);
    const rows = statement.all(JSON.stringify(values)) as Row[];
    this.#prepared.set(sql, statement);
    return rows;
  }

  #rollBack(): void {
    try {
      this.database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }
}

/** Whether another connection holds the lock (SQLITE_BUSY, as each driver reports it). */
function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return /^SQLITE_BUSY/.test(String(code)) || (Number(errcode) & 0xff) === 5;
}
