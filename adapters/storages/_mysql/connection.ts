import { OpenTransaction } from '../_shared/meaning.js';
import { keepsPrepared } from '../_shared/prepared.js';
import { NeedsChange } from '../_shared/rejection.js';
import type { Transaction } from '../_shared/transaction.js';
import { WrongResult } from '../_shared/wrong-handle.js';
import { isUnprepared } from './errors.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast: (field: unknown, next: () => unknown) => unknown;
}

type Values = (string | Date | null)[];

/** The part of a `mysql2/promise` connection that this storage uses. */
export interface MysqlConnection {
  execute(statement: string | MysqlStatement, values: Values): Promise<readonly [unknown, unknown]>;
  query(sql: string): Promise<unknown>;
  unprepare(statement: string | MysqlStatement): unknown;
  release(): void;
  destroy(): void;
  /** The connection behind this one: each checkout from a pool makes another wrapper of it. */
  readonly connection?: object;
}

/** The part that this storage uses of a `mysql2/promise` pool, or of a pool cluster's namespace (`cluster.of('*', 'ORDER')`). */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** A row; `n` of `stored` is a number. */
export type FoundRow = Readonly<Record<string, string | null>>;

/** What the driver returns for a statement without rows, with the status that the server sends. */
interface Header {
  readonly serverStatus: number;
}

// Bits of that status: https://mariadb.com/kb/en/ok_packet/#server-status-flag
const serverStatusInTrans = 1;
const serverStatusAutocommit = 2;

/**
 * Runs a statement that returns rows, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES
 * (mysqljs/mysql#1828). Every setting of the pool that changes rows is set again, because what a statement says wins. The object is a
 * new one each time: mysql2 before 3.6 keeps the values of its first call in it, and would run it with them again.
 *
 * @param isLasting whether it may stay prepared, as one of few: servers limit such statements (max_prepared_stmt_count), and
 *   each batch size is one
 */
export async function queryRows(
  connection: MysqlConnection,
  sql: string,
  values: Values = [],
  isLasting = false,
): Promise<FoundRow[]> {
  const statement: MysqlStatement = {
    sql,
    rowsAsArray: false,
    nestTables: false,
    typeCast: (_field, next) => next(),
  };
  const rows = await execute(connection, statement, sql, values, isLasting);
  if (!Array.isArray(rows)) throw new WrongResult('execute', '[rows, fields]', rows);
  return rows;
}

/**
 * Runs a statement without rows that commits by itself.
 *
 * @throws {OpenTransaction} if the connection came with one
 */
export async function run(
  connection: MysqlConnection,
  sql: string,
  values: Values = [],
  isLasting = false,
): Promise<void> {
  const serverStatus = await twice(() => runWithin(connection, sql, values, isLasting));
  if ((serverStatus & serverStatusInTrans) !== 0) await leaveTransaction(connection, serverStatus);
}

/**
 * Runs a statement without rows, prepared always, and returns the status of the server. It is a text, because mysql2 takes 8 µs longer
 * for an object: 6 % of an INSERT.
 */
export async function runWithin(
  connection: MysqlConnection,
  sql: string,
  values: Values = [],
  isLasting = false,
): Promise<number> {
  const header = (await execute(connection, sql, sql, values, isLasting)) as Partial<Header> | undefined;
  if (typeof header?.serverStatus !== 'number') throw new WrongResult('execute', '[header]', header);
  return header.serverStatus;
}

/** Sends a statement once more that the server has lost: nothing was run. Not within a transaction, which is lost with it. */
export const twice = <T>(send: () => Promise<T>): Promise<T> =>
  send().catch((error) => (isUnprepared(error) ? send() : Promise.reject(error)));

async function execute(
  connection: MysqlConnection,
  statement: string | MysqlStatement,
  sql: string,
  values: Values,
  isLasting: boolean,
): Promise<unknown> {
  try {
    const answer: unknown = await connection.execute(statement, values);
    if (!Array.isArray(answer)) throw new WrongResult('execute', '[rows, fields]', answer);
    return answer[0];
  } catch (error) {
    // The driver would send the same handle the next time.
    if (isUnprepared(error)) unprepare(connection, statement);
    throw error;
  } finally {
    // Each checkout has a wrapper of its own.
    const kept = connection.connection ?? connection;
    if (!isLasting || !keepsPrepared(kept, sql)) unprepare(connection, statement);
  }
}

export function transactionOn(connection: MysqlConnection): Transaction {
  return {
    async begin() {
      // START TRANSACTION would commit what the app has open.
      await expectNoTransaction(connection);
      await connection.query('START TRANSACTION');
    },
    commit: () => connection.query(`COMMIT ${transactionEnd}`),
    rollBack: () => connection.query(`ROLLBACK ${transactionEnd}`),
  };
}

/**
 * Whatever the `completion_type` of the session is, by which another transaction begins, or the connection ends. A comment to Vitess, whose
 * manual has COMMIT and ROLLBACK alone.
 */
const transactionEnd = '/*!50000 AND NO CHAIN NO RELEASE */';

/** @throws {OpenTransaction} if the app has a transaction open, whose rows it can still roll back: a SELECT does not show that */
export const expectNoTransaction = (connection: MysqlConnection) => run(connection, 'DO 0', [], true);

/** Rolls back: what was inserted would be lost or stored with the transaction that the connection came with. */
async function leaveTransaction(connection: MysqlConnection, serverStatus: number): Promise<never> {
  await connection.execute(`ROLLBACK ${transactionEnd}`, []);
  if ((serverStatus & serverStatusAutocommit) !== 0) throw new OpenTransaction();
  throw new NeedsChange('autocommit is off: set it');
}

/** A connection that has closed by now throws, and has no statement left to drop. */
function unprepare(connection: MysqlConnection, statement: string | MysqlStatement): void {
  try {
    connection.unprepare(statement);
  } catch {}
}
