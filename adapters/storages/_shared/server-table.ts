import { OwnError, systemClock } from '../../../src/for-storages.js';
import { type BatchCall, type CreateOutcome, RolledBack, StorageBusy } from '../../../src/index.js';
import { Checkout } from './checkout.js';
import { changeOf, type LearnedTable, unseenTable } from './columns.js';
import { faultAfter } from './fault.js';
import {
  causeOf,
  failureOf,
  meaningIn,
  OpenTransaction,
  type Phase,
  phaseOf,
  UnknownOutcome,
} from './meaning.js';
import { failureOfSetUp, Rejection, type SetUpCall, unusable } from './rejection.js';
import type { Row, Rows } from './rows.js';
import type { StoredTable } from './sql-storage.js';
import type { TableSpec } from './table.js';
import type { Explanation, TableServer, TableStatements } from './table-server.js';
import { type Trial, tryOut } from './try-out.js';

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

  check(trial: Trial): Promise<void> {
    return this.#setUp('check', async (connection, table) => {
      const { insertAndRollBack } = table;
      if (!insertAndRollBack) return void (await table.insertNothing(connection));
      await tryOut(this.spec, trial, {
        isStored: async (row) => {
          const key = row.slice(0, this.spec.key.length);
          return !changeOf(table.learned, [key]) && (await table.find(connection, key)) !== undefined;
        },
        createAndRollBack: async (row) => {
          const change = changeOf(table.learned, [row]);
          if (change) throw change;
          const inserting = insertAndRollBack(connection, [row]);
          return (await inserting.catch((error) => this.#ofTrial(error, connection)))[0]!;
        },
      });
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
        reject(new OwnError(`the database did not answer within ${this.timeoutMs} ms`));
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
      const error = given ?? new OwnError('the driver failed without an error');
      const { failure, keepsConnection } = await this.#explain(error, call.sent, checkout);
      checkout.end(keepsConnection);
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
      if (!['rejected', 'setup'].includes(this.server.explain(error).meaning)) throw error;
    }
    const table = { ...this.server.statementsFor(learned ?? unseenTable), learned: learned ?? unseenTable };
    if (learned) this.#known = table;
    return table;
  }

  /** Returns what to throw after an error, and whether the connection can be used again. */
  async #explain(given: unknown, wasSent: boolean, checkout: Checkout<Connection>) {
    const isRolledBack = given instanceof RolledBack;
    // The next call looks at the table again.
    if (isRolledBack && given.reason === 'unusable') this.#known = undefined;
    if (isRolledBack) return { failure: given, keepsConnection: true };
    // A connection that has a transaction of the app, or has answered a question by half, is closed.
    if (given instanceof StorageBusy || given instanceof UnknownOutcome)
      return { failure: given, keepsConnection: false };
    const [error, phase] = [causeOf(given), phaseOf(given, wasSent)];
    const { meaning, keepsConnection } = await this.#meaningOf(error, phase, checkout.connection);
    if (meaning === 'program') {
      return { failure: unusable(this.spec, this.server.failedHandle(error), error), keepsConnection };
    }
    if (meaning === 'setup') {
      const failure = await faultAfter(error, this.server, checkout.connection!, this.spec);
      this.#known = undefined;
      return { failure, keepsConnection };
    }
    // Look at the table again first. A pooler that has lost its server gives the same error before and after it has sent a statement;
    // this way only one call ends unknown.
    if (meaning === 'unknown') this.#known = undefined;
    return { failure: failureOf(meaning, error), keepsConnection };
  }

  async #meaningOf(
    error: unknown,
    phase: Phase,
    connection: Connection | undefined,
  ): Promise<Pick<Explanation, 'meaning' | 'keepsConnection'>> {
    const explained = this.server.explain(error);
    // A database that takes no connections has the code of one that needs another index.
    if (explained.isOfAll && phase !== 'before') return explained;
    const meaning = meaningIn(phase, explained.meaning);
    if (meaning === 'setup') return this.#askWhose(connection!);
    if (phase === 'before' || phase === 'lost') return { meaning, keepsConnection: false };
    const isAnswered = phase === 'rolled back' && explained.isOfFunction === true;
    return { meaning, keepsConnection: explained.keepsConnection || isAnswered };
  }

  /** Throws what an error of a trial says of its rows. */
  async #ofTrial(error: unknown, connection: Connection): Promise<never> {
    if (error instanceof Rejection) throw error;
    const { meaning } = await this.#meaningOf(causeOf(error), phaseOf(error, true), connection);
    throw meaning === 'rejected' ? new Rejection('rejected', causeOf(error)) : error;
  }

  /** Asks whose fault it is, by an INSERT of nothing: if that fails likewise, the table's, and not that of what a trigger needs. */
  async #askWhose(connection: Connection): Promise<Pick<Explanation, 'meaning' | 'keepsConnection'>> {
    try {
      await (this.#known ?? this.server.statementsFor(unseenTable)).insertNothing(connection);
      return { meaning: 'rejected', keepsConnection: true };
    } catch (error) {
      const asked = this.server.explain(error);
      return asked.meaning === 'setup' ? asked : { meaning: 'conflict', keepsConnection: false };
    }
  }
}
