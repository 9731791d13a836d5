import { OwnError } from '../../../src/for-storages.js';
import { WrongResult } from '../_shared/wrong-handle.js';
import { checkedRows, Failed, type FoundRow, isClosed, type SqliteClient, type Statement } from './client.js';
import { type resultOf, resultOfServer } from './codes.js';

/** The statement that ends a trial. It fails in each SQLite, when it runs, by a result that no other one here has. */
const failing: Statement = { sql: "SELECT 1 LIMIT 'roll back'", args: [] };

type SendMessage = (statements: readonly Statement[]) => Promise<(readonly unknown[])[]>;

/** How a database is asked that gets all statements at once. */
interface Batching {
  readonly results?: typeof resultOf;
  /** Whether a constraint that failed may be another query's, at its COMMIT. */
  readonly sharesErrors?: boolean;
  /** Whether it opens a file of this machine, and then blocks the event loop. */
  readonly opensFile?: boolean;
}

/**
 * A database that is far away: all statements of a transaction travel in one message, and a failing one rolls all back.
 *
 * @param send sends statements in a transaction, and returns the rows of each
 */
export function batching(
  handle: object,
  send: SendMessage,
  { results = resultOfServer, sharesErrors = false, opensFile = false }: Batching = {},
): SqliteClient {
  const transact: SendMessage = async (statements) => {
    const wasClosed = isClosed(handle);
    try {
      return (await send(statements)).map(checkedRows);
    } catch (error) {
      // `fetch` throws a TypeError without a connection, and a TypeError is never retried.
      const isOfFetch = error instanceof TypeError && !(error instanceof WrongResult);
      const cause = isOfFetch ? new OwnError('the message has failed', { cause: error }) : error;
      const mayBeOfAnother = sharesErrors && results(cause) === 'SQLITE_CONSTRAINT';
      throw new Failed(wasClosed ? 'begin' : mayBeOfAnother ? 'commit' : 'message', cause);
    }
  };
  const lockTimeout = async () => {
    const [[found] = []] = await transact([{ sql: 'SELECT timeout FROM pragma_busy_timeout', args: [] }]);
    return Number((found as FoundRow | undefined)?.timeout);
  };
  return {
    blocks: opensFile,
    counts: false,
    ...(opensFile && { lockTimeout }),
    get isClosed() {
      return isClosed(handle);
    },
    resultOf: results,
    commit: transact as SqliteClient['commit'],
    async tryOut(statements) {
      await transact([...statements, failing]).catch((error) => {
        if (results(error.cause) !== 'SQLITE_MISMATCH') throw error;
      });
    },
  };
}
