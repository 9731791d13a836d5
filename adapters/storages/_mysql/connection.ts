import { StorageBusy } from '../../../src/index.js';
import { OpenTransaction } from '../_shared/meaning.js';
import { keepsPrepared } from '../_shared/prepared.js';
import { WrongResult } from '../_shared/wrong-handle.js';

/** A statement as `mysql2` takes it. */
export interface MysqlStatement {
  sql: string;
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** The part of a `mysql2/promise` connection that this storage uses. */
export interface MysqlConnection {
  execute(statement: MysqlStatement, values: (string | Date | null)[]): Promise<readonly [unknown, unknown]>;
  unprepare(statement: MysqlStatement): unknown;
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
export type Found = Readonly<Record<string, string | null>>;

/** What the driver returns for a statement without rows, with the status that the server sends. */
interface Header {
  readonly serverStatus: number;
}

// Bits of that status.
const inTransaction = 1;
const autocommit = 2;

/**
 * Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES.
 *
 * @param isLasting whether it may stay prepared, as one of few: servers limit such statements (max_prepared_stmt_count), and
 *   each batch size is one
 * @throws {OpenTransaction} if the connection came with one
 */
export async function execute(
  connection: MysqlConnection,
  sql: string,
  values: (string | Date | null)[] = [],
  isLasting = false,
): Promise<Found[]> {
  const statement = statementOf(sql);
  let answer: unknown;
  try {
    answer = await connection.execute(statement, values);
  } finally {
    if (!isLasting || !keepsPrepared(connection.connection ?? connection, sql))
      unprepare(connection, statement);
  }
  if (!Array.isArray(answer)) throw new WrongResult('execute', '[rows, fields]', answer);
  const [result] = answer as [Found[] | Header | undefined];
  if (Array.isArray(result)) return result;
  if (typeof result?.serverStatus !== 'number')
    throw new WrongResult('execute', '[rows, fields] or [header]', answer);
  if ((result.serverStatus & inTransaction) !== 0) await leaveTransaction(connection, result);
  return [];
}

/** Rolls back: what was inserted would be lost or stored with the transaction that the connection came with. */
async function leaveTransaction(connection: MysqlConnection, { serverStatus }: Header): Promise<never> {
  await connection.execute(statementOf('ROLLBACK'), []);
  if ((serverStatus & autocommit) !== 0) throw new OpenTransaction();
  throw new StorageBusy('autocommit is off: set it');
}

/** A connection that has closed by now throws, and has no statement left to drop. */
function unprepare(connection: MysqlConnection, statement: MysqlStatement): void {
  try {
    connection.unprepare(statement);
  } catch {}
}

/** Every setting of the pool that changes rows is set again, because what a statement says wins. */
function statementOf(sql: string): MysqlStatement {
  return { sql, rowsAsArray: false, nestTables: false, typeCast: (_field, next) => next() };
}
