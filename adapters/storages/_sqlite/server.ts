import { type Column, type LearnedTable, learn } from '../_shared/columns.js';
import { type Meaning, Uncommitted } from '../_shared/meaning.js';
import { missingIndex, Rejection, unfilledColumn, unusable } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import type { TableServer, TableStatements } from '../_shared/table-server.js';
import { firstIn } from '../_shared/wrapped-error.js';
import { failedHandle, type Needed, WrongResult } from '../_shared/wrong-handle.js';
import { AskedTable } from './asked-table.js';
import { isOfFile, meaningOfAnswer } from './errors.js';
import { isView, noFile, wrongEncoding } from './remedies.js';
import type { SqliteClient } from './transactions.js';

export const needed: Needed = {
  storage: 'sqliteAsyncStorage',
  what: 'a client or an open database of an asynchronous driver, a D1 binding or the storage of a Durable Object',
  remedy:
    'pass createClient({ url }) of @libsql/client, env.DB or ctx.storage; what blocks is for sqliteStorage',
};

/** A table of a SQLite that answers later. It has no connections of its own: each call is a transaction of the handle. */
export function sqliteServer(
  handle: object,
  client: SqliteClient,
  spec: TableSpec,
): TableServer<SqliteClient> {
  return {
    connect: async () => client,
    release() {},
    failedHandle: (error) => failedHandle(handle, error, needed),
    explain: (error, wasSent) => ({ meaning: meaningOf(client, error, wasSent), isReusable: true }),
    look: () => look(client, spec).catch((error) => Promise.reject(failureOfLook(client, error))),
    statementsFor: () => tableStatements(client, spec),
    remedyOf(error, isFound) {
      if (isOfFile(client.resultOf(error))) return noFile;
      return isFound ? missingIndex(spec) : undefined;
    },
    createTable: () => client.commit([{ sql: spec.schema, args: [] }]),
    remedyOfCreate: () => undefined,
  };
}

function tableStatements(client: SqliteClient, spec: TableSpec): TableStatements<SqliteClient> {
  const table = new AskedTable(client, spec);
  return {
    insert: (_, rows) => table.insert(rows),
    insertNothing: () => table.tryToInsert([[]]),
    insertAndRollBack: (_, rounds) => table.insertAndRollBack(rounds),
    find: (_, key) => table.find(key),
  };
}

/**
 * What an error means. Nothing was stored if SQLite has answered, or if the database is in this process: what a COMMIT leaves open comes
 * as another error.
 *
 * @param wasSent `false` if it came of a look at the table
 */
function meaningOf(client: SqliteClient, error: unknown, wasSent: boolean): Meaning {
  if (error instanceof WrongResult) return 'program';
  if (client.isClosed) return 'closed';
  const result = client.resultOf(error);
  if (result) return meaningOfAnswer(result);
  if (isUnauthorized(error)) return 'no login';
  if (!client.isFarAway) return 'setup, or of a plant';
  return wasSent && !isUnreachable(error) ? 'unknown' : 'conflict';
}

/** Whether a server has refused a token. */
const isUnauthorized = (error: unknown) =>
  firstIn(error, ({ status }) => (status === 401 || status === 403 ? true : undefined)) ?? false;

/** Whether there was no connection that could have carried a statement: the system's codes. */
const isUnreachable = (error: unknown) =>
  firstIn(error, ({ code }) =>
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(code)) ? true : undefined,
  ) ?? false;

/**
 * Learns the columns of a table; `undefined` if there is none.
 *
 * @throws {Rejection} if plants would change, or no create can succeed
 */
async function look(client: SqliteClient, spec: TableSpec): Promise<LearnedTable | undefined> {
  const args = [spec.table];
  const [columns = [], views = []] = await client.commit([
    { sql: 'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', args },
    { sql: "SELECT name FROM sqlite_master WHERE type = 'view' AND name = ? COLLATE NOCASE", args },
  ]);
  if (columns.length === 0) return undefined;
  if (views.length > 0) throw unusable(spec, isView);
  await checkEncoding(client, spec);
  // Triggers are not looked for: each batch asks what is stored.
  const learned = learn(spec, columns as unknown as Column[], false);
  const names = spec.columns.map(({ name }) => name.toLowerCase());
  const unfilled = columns.find(
    ({ name, notnull, dflt_value, pk }) =>
      !names.includes(String(name).toLowerCase()) && Number(notnull) && dflt_value === null && !Number(pk),
  );
  // A trigger of SQLite cannot fill it.
  if (unfilled) throw unusable(spec, unfilledColumn(unfilled.name));
  return learned;
}

/** Each SQLite has this catalogue: an error that does not say what is wrong, such as that of a lock, may be over soon. */
function failureOfLook(client: SqliteClient, error: unknown): unknown {
  const isTold = error instanceof Rejection || client.resultOf(error) !== undefined;
  return isTold || client.isFarAway ? error : new Uncommitted(error, false);
}

/** D1 and Durable Objects do not tell the encoding: theirs is UTF-8. */
async function checkEncoding(client: SqliteClient, spec: TableSpec): Promise<void> {
  const [rows = []] = await client
    .commit([{ sql: 'SELECT encoding FROM pragma_encoding', args: [] }])
    .catch((error) => {
      if (error instanceof Uncommitted && client.resultOf(error.cause) === 'SQLITE_AUTH') return [];
      throw error;
    });
  const [{ encoding } = { encoding: 'UTF-8' }] = rows;
  if (encoding !== 'UTF-8') throw unusable(spec, wrongEncoding(encoding));
}
