import { type BatchCall, type CreateOutcome, RolledBack, StorageBusy } from '../../src/index.js';
import type { Row, Rows } from './_rows.js';
import type { StoredTable } from './_sql.js';
import { changeOf, Rejection, type TableSpec, unusable } from './_table.js';

/**
 * What became of the plants that were sent. `unknown`: they may or may not be stored. Otherwise nothing was stored:
 *
 * - `transient`: sending again may help. `permanent`: it cannot.
 * - `locked`: another transaction holds a lock that a plant needs. `expired`: the statement took too long.
 * - `rejected`: maybe because of one plant of the batch. `open transaction`: the connection came with a transaction of the app.
 */
type Fate = 'unknown' | 'transient' | 'permanent' | 'locked' | 'expired' | 'rejected' | 'open transaction';

/** What an error says. `missing`: a table or a column, of this table or of another that a trigger needs. */
export type Meaning = Fate | 'missing' | 'unindexed' | 'denied' | 'login';

/** What an error means, and whether its connection can be used again. Otherwise it may still hold half a response. */
export type Explanation = readonly [meaning: Meaning, isReusable: boolean];

/** What errors mean, by the texts that their database makes of them; the first that matches. */
export type Meanings = readonly (readonly [RegExp, Meaning])[];

export function meaningIn(meanings: Meanings, text: string): Meaning {
  return meanings.find(([pattern]) => pattern.test(text))?.[1] ?? 'unknown';
}

/** A connection came with a transaction of the app: its plants would be stored or lost with that. Nothing was stored. */
export class OpenTransaction extends StorageBusy {
  constructor(cause?: unknown) {
    super('the connection already has an open transaction: end it before the release', {
      cause,
    });
  }
}

/** Where connections come from. */
export interface Pool<Connection> {
  connect(): Promise<Connection>;
  release(connection: Connection, isReusable: boolean): void;
}

/** The statements of one table on a database server. */
export interface TableServer<Connection> extends Pool<Connection> {
  /** @param wasSent `false` if no plant was sent before the error */
  explain(error: unknown, wasSent: boolean): Explanation;
  /**
   * Learns what the database shows of the table, and fits the statements to that.
   *
   * @throws {Rejection} if the table would change or lose plants
   */
  look(connection: Connection): Promise<void>;
  insert(connection: Connection, rows: Rows): Promise<CreateOutcome[]>;
  find(connection: Connection, key: Row): Promise<Record<string, unknown> | undefined>;
  createTable(connection: Connection): Promise<unknown>;
}

// Captured at load time, before an app's tests install fake timers: a call that hangs still gives its connection back.
const set = setTimeout;
const clear = clearTimeout;

/** A table of a server. A statement has the same timeout as a create. */
export class ServerTable<Connection> implements StoredTable {
  constructor(
    readonly spec: TableSpec,
    readonly server: TableServer<Connection>,
    readonly timeoutMs = 10_000,
  ) {}

  insert(rows: Rows, call: BatchCall): Promise<CreateOutcome[]> {
    const insert = (connection: Connection) => {
      const change = changeOf(this.spec, rows);
      if (change) throw change;
      return this.server.insert(connection, rows);
    };
    return this.#send(insert, call, rows.length).catch(async (error) => {
      if (!(error instanceof OpenTransaction) || rows.length === 1) throw error;
      // One create reports the app's mistake. The others are sent on another connection.
      return [error, ...(await this.insert(rows.slice(1), call))];
    });
  }

  find(key: Row): Promise<Record<string, unknown> | undefined> {
    return this.#ask(async (connection) =>
      // Nothing is stored under a key that a column would change.
      changeOf(this.spec, [key]) ? undefined : this.server.find(connection, key),
    );
  }

  async createTable(): Promise<void> {
    // Looked for first, because a role that may only SELECT and INSERT may not CREATE, even if it exists.
    this.spec.isKnown = false;
    const creating = this.#ask(async (connection) => {
      if (this.spec.isKnown) return;
      const create = () => this.server.createTable(connection);
      // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
      await create().catch(create);
    });
    await creating.catch((error) => {
      throw error.cause ?? error;
    });
  }

  /** @param count how many plants are to be sent: a role that creates the table may lack the grants that they need */
  async #look(connection: Connection, count: number): Promise<void> {
    await this.server.look(connection).catch((error) => {
      // Or a database that has no such catalogue.
      const isUseless = count ? /rejected|missing/ : /rejected|missing|denied/;
      if (!isUseless.test(this.server.explain(error, true)[0])) throw error;
    });
  }

  /** Sends a statement that belongs to no batch. */
  #ask<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const timer = set(() => controller.abort(), this.timeoutMs);
    return this.#send(run, { sent: false, signal: controller.signal }).finally(() => clear(timer));
  }

  /**
   * Runs a statement as soon as the table is known to keep plants, and until the call is aborted, because a frozen server
   * would hold the connection for ever. A connect that outlasts its call leaves its connection to the pool, because a
   * login may be slow.
   */
  #send<T>(run: (connection: Connection) => Promise<T>, call: BatchCall, count = 0): Promise<T> {
    call.sent = false;
    return new Promise<T>((resolve, reject) => {
      let held: Connection | undefined;
      let isOver = false;
      const end = (isReusable: boolean) => {
        if (isOver) return;
        isOver = true;
        if (held) this.server.release(held, isReusable);
      };
      call.signal.addEventListener('abort', () => {
        reject(new Error(`the database did not answer within ${this.timeoutMs} ms`));
        end(false);
      });
      const work = async () => {
        try {
          const connection = await this.server.connect();
          if (isOver) return this.server.release(connection, true);
          held = connection;
          if (!this.spec.isKnown) await this.#look(connection, count);
          call.sent = true;
          resolve(await run(connection));
          end(true);
        } catch (given) {
          const error = given ?? new Error('the driver failed without an error');
          const isOwn = error instanceof Rejection || error instanceof StorageBusy;
          const own = ['unknown', error instanceof Rejection] as const;
          const [meaning, isReusable] = isOwn ? own : this.server.explain(error, call.sent);
          const thrown = await this.#thrown(meaning, error, count, held!);
          reject(thrown);
          end(isReusable);
        }
      };
      work();
    });
  }

  /** The one place that knows what becomes of the plants. `groupCommit` retries what was rolled back. */
  async #thrown(meaning: Meaning, error: unknown, count: number, connection: Connection): Promise<unknown> {
    const { spec } = this;
    if (meaning === 'unknown') return error;
    if (meaning === 'open transaction') return new OpenTransaction(error);
    if (meaning === 'permanent')
      return new StorageBusy('the database refused the connection', { cause: error });
    if (meaning === 'transient') return new RolledBack('together', error);
    if (meaning === 'locked') return new RolledBack('alone', error);
    if (meaning === 'expired') return new RolledBack('apart', error);
    if (meaning === 'missing') {
      // A table or a column, of this table or of one that a trigger needs: a look shows it.
      spec.isKnown = false;
      const fault = await this.#look(connection, count).catch((found) => found);
      if (fault instanceof Rejection) return fault;
      if (!fault && !spec.isKnown) return unusable(spec, spec.missing, error);
    } else if (meaning !== 'rejected') {
      const said = (error as Error).message;
      const why = {
        login: `${said}. Check user, password and database in the settings of the pool`,
        denied: `${said}. Run: GRANT SELECT, INSERT ON ${spec.name} TO ...`,
        unindexed: spec.unindexed,
      };
      return unusable(spec, why[meaning], error);
    }
    return new Rejection('apart', error);
  }
}

/** The most statements that a connection keeps prepared, of all storages together. */
const maxPrepared = 32;

const prepared = new WeakMap<object, Set<unknown>>();

/**
 * Whether a connection keeps this statement prepared: the first ones that it runs, so that a storage for each of many
 * tenants fills no server with statements.
 */
export function keepsPrepared(connection: object, statement: unknown): boolean {
  const kept = prepared.get(connection) ?? new Set();
  if (kept.size === 0) prepared.set(connection, kept);
  if (kept.size < maxPrepared) kept.add(statement);
  return kept.has(statement);
}
