import { ownWords, systemClock } from '../../../src/for-storages.js';
import { type BatchCall, type CreateOutcome, StorageBusy } from '../../../src/index.js';
import { Checkout } from './checkout.js';
import { changeOf, type LearnedTable, unseenTable } from './columns.js';
import { failureOf, OpenTransaction, Uncommitted, UnknownOutcome } from './meaning.js';
import { failureOfSetUp, missingTable, Rejection, type SetUpCall, unusable } from './rejection.js';
import type { Row, Rows } from './rows.js';
import type { CheckReport, StoredTable } from './sql-storage.js';
import type { TableSpec } from './table.js';
import type { Explanation, TableServer, TableStatements } from './table-server.js';
import { tryOut } from './try-out.js';

/** What is known of a table, and its statements. */
interface KnownTable<Connection> extends TableStatements<Connection> {
  readonly learned: LearnedTable;
}

/** What is done on a connection. */
type Task<Connection, T> = (connection: Connection, table: KnownTable<Connection>) => Promise<T>;

/** A table of a server. A statement has the same timeout as a create. */
export class ServerTable<Connection> implements StoredTable {
  /** What a look has found. */
  #known: KnownTable<Connection> | undefined;

  constructor(
    readonly spec: TableSpec,
    readonly server: TableServer<Connection>,
    readonly timeoutMs = 10_000,
  ) {}

  insert(rows: Rows, call: BatchCall): Promise<CreateOutcome[]> {
    const insert: Task<Connection, CreateOutcome[]> = (connection, table) => {
      const change = changeOf(table.learned, rows);
      if (change) throw change;
      return table.insert(connection, rows);
    };
    return this.#send(insert, call).catch(async (error) => {
      if (!(error instanceof OpenTransaction) || rows.length === 1) throw error;
      // One create reports the app's mistake. The others are sent on another connection.
      return [error, ...(await this.insert(rows.slice(1), call))];
    });
  }

  find(key: Row): Promise<Record<string, unknown> | undefined> {
    return this.#ask(async (connection, table) =>
      // Nothing is stored under a key that a column would change.
      changeOf(table.learned, [key]) ? undefined : table.find(connection, key),
    );
  }

  createTable(): Promise<void> {
    return this.#setUp('createTable', async (connection, { learned }) => {
      // Not if it exists: a role that may only SELECT and INSERT may not CREATE, not even IF NOT EXISTS.
      if (learned !== unseenTable) return;
      const create = () => this.server.createTable(connection);
      // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
      await create()
        .catch(create)
        .catch(async (error) => {
          const why = this.server.remedyOfCreate(error);
          throw why ? unusable(this.spec, why, error) : error;
        });
    });
  }

  check(): Promise<CheckReport> {
    return this.#setUp('check', async (connection, table) => {
      const { insertAndRollBack } = table;
      if (insertAndRollBack) {
        return tryOut(this.spec, table.learned, {
          insertAndRollBack: (rounds) => insertAndRollBack(connection, rounds),
          isRejection: async (error) =>
            (await this.#meaningOf(error, true, connection)).meaning === 'rejected',
        });
      }
      await table.insertNothing(connection);
      return { notAsked: ['the handle has no transaction: an INSERT of no rows was tried'] };
    });
  }

  /** Runs a task for an app that starts, on the table as it is now. */
  async #setUp<T>(call: SetUpCall, task: Task<Connection, T>): Promise<T> {
    // So that the table is looked at again.
    this.#known = undefined;
    const checkout = new Checkout(this.server);
    try {
      return await this.#ask(task, checkout);
    } catch (error) {
      throw failureOfSetUp(call, this.spec, error, checkout.connection !== undefined);
    }
  }

  /** Sends a statement that belongs to no batch. */
  async #ask<T>(task: Task<Connection, T>, checkout?: Checkout<Connection>): Promise<T> {
    const controller = new AbortController();
    const timer = systemClock.setTimer(() => controller.abort(), this.timeoutMs);
    try {
      return await this.#send(task, { sent: false, signal: controller.signal }, checkout);
    } finally {
      systemClock.clearTimer(timer);
    }
  }

  /** Runs a task until its call is aborted, because a frozen server would hold the connection for ever. */
  #send<T>(task: Task<Connection, T>, call: BatchCall, checkout = new Checkout(this.server)): Promise<T> {
    call.sent = false;
    // Not an arrow function: V8 takes one that is assigned to a property for a method, and puts it into its old space. There it would
    // keep the requests of its call until the next major collection, and a create cost half as much again.
    call.waitsFor = checkout.waitsFor.bind(checkout);
    return new Promise((resolve, reject) => {
      checkout.watch(call, () => {
        reject(ownWords(new Error(`the database did not answer within ${this.timeoutMs} ms`)));
      });
      this.#work(task, call, checkout).then(resolve, reject);
    });
  }

  /** Takes a connection, looks at the table unless it is known, runs the task, and gives the connection back. */
  async #work<T>(task: Task<Connection, T>, call: BatchCall, checkout: Checkout<Connection>): Promise<T> {
    try {
      const connection = await checkout.connect();
      const table = this.#known ?? (await this.#look(connection));
      call.sent = true;
      const result = await task(connection, table);
      checkout.end(true);
      return result;
    } catch (given) {
      const error = given ?? ownWords(new Error('the driver failed without an error'));
      const { failure, isReusable } = await this.#explain(error, call.sent, checkout);
      checkout.end(isReusable);
      throw failure;
    }
  }

  /** Looks at the table. What it returns is for this task alone if there is no table. */
  async #look(connection: Connection): Promise<KnownTable<Connection>> {
    let learned: LearnedTable | undefined;
    try {
      learned = await this.server.look(connection);
    } catch (error) {
      if (error instanceof Rejection) throw error;
      // A database of the same family that has no such catalogue says so: its table is used unseen.
      // `true`: what it means of a statement. Of a login, a missing right would be `no login`.
      const { meaning } = this.server.explain(error, true);
      if (!['rejected', 'setup', 'setup, or of a plant'].includes(meaning)) throw error;
    }
    const table = { ...this.server.statementsFor(learned ?? unseenTable), learned: learned ?? unseenTable };
    if (learned) this.#known = table;
    return table;
  }

  /** Returns what to throw after an error, and whether the connection can be used again. */
  async #explain(given: unknown, wasSent: boolean, checkout: Checkout<Connection>) {
    const isRejection = given instanceof Rejection;
    const isExplained = isRejection || given instanceof StorageBusy || given instanceof UnknownOutcome;
    if (isExplained) return { failure: given, isReusable: isRejection };
    const error = given instanceof Uncommitted ? given.cause : given;
    const { meaning, isReusable } = await this.#meaningOf(given, wasSent, checkout.connection);
    if (meaning === 'program') {
      return { failure: unusable(this.spec, this.server.failedHandle(error), error), isReusable };
    }
    if (meaning === 'setup' || meaning === 'setup, or of a plant') {
      const failure = await this.#faultAfter(error, checkout.connection!);
      this.#known = undefined;
      return { failure, isReusable };
    }
    // The next call looks at the table first: so of a pooler without a server, which says the same before and after it has sent a
    // statement, the creates of one call alone are unknown.
    if (meaning === 'unknown') this.#known = undefined;
    return { failure: failureOf(meaning, error), isReusable };
  }

  async #meaningOf(
    given: unknown,
    wasSent: boolean,
    connection: Connection | undefined,
  ): Promise<Explanation> {
    const uncommitted = given instanceof Uncommitted ? given : undefined;
    const explained = this.server.explain(uncommitted ? uncommitted.cause : given, wasSent);
    const isOfTableOrPlant = explained.meaning === 'setup, or of a plant';
    // What would be unknown of a single statement is not of a transaction that was not committed.
    if (uncommitted && (explained.meaning === 'unknown' || isOfTableOrPlant)) {
      if (!uncommitted.isAlive) return { meaning: 'conflict', isReusable: false };
      if (!isOfTableOrPlant) return { meaning: 'rejected', isReusable: true };
    }
    // It has answered the ROLLBACK. A login for each retry of such a plant would keep all others waiting.
    if (uncommitted?.isAlive && explained.isOfFunction) return { ...explained, isReusable: true };
    if (!isOfTableOrPlant) return explained;
    return { ...explained, meaning: (await this.#failsForAll(connection!)) ? 'setup' : 'rejected' };
  }

  /** Whether an INSERT of nothing fails likewise: then the table is at fault, and not one that a trigger needs. */
  async #failsForAll(connection: Connection): Promise<boolean> {
    try {
      await (this.#known ?? this.server.statementsFor(unseenTable)).insertNothing(connection);
      return false;
    } catch (error) {
      return ['setup', 'setup, or of a plant'].includes(this.server.explain(error, true).meaning);
    }
  }

  /** Looks why each create fails. */
  async #faultAfter(error: unknown, connection: Connection): Promise<Rejection> {
    const why = await this.server.look(connection).then(
      (table) =>
        this.server.remedyOf(error, table !== undefined) ?? (table ? undefined : missingTable(this.spec)),
      // It names a column that is missing.
      (found) => (found instanceof Rejection ? found : this.server.remedyOf(error, true)),
    );
    return why instanceof Rejection ? why : unusable(this.spec, why ?? 'its statements fail', error);
  }
}
