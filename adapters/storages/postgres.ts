import type { CreateOutcome, NewPlant } from '../../src/index.js';
import { outcomesOf } from './_columns.js';
import { inFailedTransaction, meaningOf, outOfRange } from './_postgres-errors.js';
import {
  isInTransaction,
  isPool,
  type Message,
  type PgClient,
  type PostgresPool,
  poolOf,
} from './_postgres-pool.js';
import {
  assumed,
  columnOf,
  dialect,
  lookAt,
  type PostgresColumn,
  type PostgresSql,
  sent,
  sqlOf,
} from './_postgres-table.js';
import type { ColumnValue, Row } from './_rows.js';
import { OpenTransaction, type Server, ServerTable } from './_server.js';
import { type SqlOptions, type SqlStorage, sqlStorage } from './_sql.js';
import { Table, type TableOptions } from './_table.js';

export type { ColumnValue, PostgresPool };

/** The options of `postgresStorage`. */
export type PostgresOptions<Caller = unknown> = SqlOptions<Caller>;

/** What `postgresStorage` returns. */
export type PostgresStorage<Caller = unknown> = SqlStorage<Caller>;

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf();

/**
 * Returns the table of a storage with these options, in SQL, for a migration. Columns of your own are `text`: edit the
 * types.
 *
 * @throws {TypeError} if an option is invalid
 *
 * @example
 * ```ts
 * const sql = schemaOf({ table: 'garden.plants', namespace: { tenant: () => '' } });
 * ```
 */
export function schemaOf(options: TableOptions<never> = {}): string {
  return new Table(dialect, options).schema;
}

/**
 * Stores plants in PostgreSQL or a compatible database through your pool, which it neither configures nor closes.
 * Many instances may share one database. Plants are as durable as its `fsync` and `synchronous_commit` make them.
 * Give the pool an `error` listener: without one, a dropped idle connection crashes the process.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 });
 * pool.on('error', console.error);
 * const storage = postgresStorage(pool, { table: 'garden.plants' });
 * await storage.createTable();
 * ```
 */
export function postgresStorage<Caller = unknown>(
  pool: PostgresPool,
  options: PostgresOptions<Caller> = {},
): PostgresStorage<Caller> {
  const { _connected, _connecting } = (pool ?? {}) as { _connected?: unknown; _connecting?: unknown };
  if (typeof pool?.query !== 'function' || (_connected === false && _connecting === false)) {
    throw new TypeError(`postgresStorage needs a pg Pool, a connected pg Client or a PGlite:
pass new pg.Pool(), or call client.connect() first`);
  }
  const table = new Table(dialect, options);
  const server: Server<PgClient, PostgresColumn, PostgresSql> = {
    pool: poolOf(pool),
    meaningOf,
    async look(client) {
      const { rows } = await client.query(lookAt, [table.name, table.names]);
      return rows.map(columnOf);
    },
    assumed,
    sqlOf: (columns) => sqlOf(table, columns),
    insert: (client, sql, plants, rows) => insert(client, sql, plants, rows, isPool(pool)),
    async select(client, { find, columns }, key) {
      const values = key.map((value, i) => sent(value, columns[i]!.isJson));
      const { rows } = await client.query(find, values).catch((error) => {
        // No row has an id that the column cannot hold.
        if (error?.code === outOfRange) return { rows: [] };
        throw error;
      });
      return rows[0];
    },
    createTable: (client) => client.query(table.schema),
  };
  return sqlStorage(new ServerTable(table, server, options), options);
}

async function insert(
  client: PgClient,
  sql: PostgresSql,
  plants: readonly NewPlant[],
  rows: readonly Row[],
  isOwn: boolean,
): Promise<CreateOutcome[]> {
  if (isInTransaction(client)) throw new OpenTransaction();
  const values = sql.columns.map(({ isJson }, i) => rows.map((row) => sent(row[i]!, isJson)));
  const notices: Message[] = [];
  const onNotice = (notice: Message) => notices.push(notice);
  let status: string | undefined;
  const onReady = (message: { status?: string }) => {
    status = message.status;
  };
  client.on?.('notice', onNotice);
  if (!client.getTransactionStatus) client.connection?.on?.('readyForQuery', onReady);
  const one = rows.length === 1 && values.map(([value]) => value);
  const inserting = client.query(one ? sql.insertOne : sql.insert, one || values).catch((error) => {
    throw error?.code === inFailedTransaction ? new OpenTransaction({ cause: error }) : error;
  });
  const { rows: created } = await inserting.finally(() => {
    client.off?.('notice', onNotice);
    client.connection?.off?.('readyForQuery', onReady);
  });
  if (isInTransaction(client) || status === 'T') await rollBack(client, isOwn);
  const unreplicated = notices.find(isUnreplicated);
  if (unreplicated) throw new Error(`not replicated: ${unreplicated.message}`);
  if (created.length === plants.length) return outcomesOf(plants, created);
  return client.query(sql.stored, values.slice(0, sql.keyLength)).then(
    ({ rows: stored }) => outcomesOf(plants, created, stored),
    (error) => {
      // The keys are as PostgreSQL spells them: of those that it spells otherwise, all are in doubt.
      const keys = new Set(created.map(({ key }) => key));
      return plants.map(({ id }) => (keys.has(String(id)) ? 'created' : error));
    },
  );
}

/** Nobody but the app may end the transaction of a connection that the app gave: there the plants are in doubt. */
async function rollBack(client: PgClient, isOwn: boolean): Promise<never> {
  if (!isOwn) throw new Error(new OpenTransaction().message);
  await client.query('ROLLBACK');
  throw new OpenTransaction();
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
 * plant at the next failover.
 */
function isUnreplicated({ message, routine }: Message): boolean {
  return routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication') === true;
}
