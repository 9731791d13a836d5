import type { CreateOutcome, NewPlant } from '../../src/index.js';
import { inFailedTransaction, meaningOf, outOfRange } from './_postgres-errors.js';
import {
  isInTransaction,
  isPool,
  type Message,
  type PgClient,
  type PostgresPool,
  poolOf,
} from './_postgres-pool.js';
import { columns, foundIn, lookAt, type PostgresTable, schemaOf, tableOf } from './_postgres-table.js';
import { OpenTransaction, type Server, serverStorage } from './_server.js';
import { quote, type SqlOptions, type SqlStorage } from './_sql.js';
import { checkTrailingSpaces, membersOf, outcomesOf, textOf } from './_table.js';

export type { PostgresPool };

/** The options of `postgresStorage`. */
export type PostgresOptions = SqlOptions;

/** What `postgresStorage` returns. */
export type PostgresStorage = SqlStorage;

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf('"plants"');

const members = membersOf(columns);

/**
 * Stores plants in PostgreSQL or a compatible database through your pool, which it neither configures nor closes.
 * Many instances may share one database. Plants are as durable as its `fsync` and `synchronous_commit` make them.
 * Give the pool an `error` listener: without one, a dropped idle connection crashes the process. All callers share one
 * table.
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
export function postgresStorage(pool: PostgresPool, options: PostgresOptions = {}): PostgresStorage {
  const { _connected, _connecting } = (pool ?? {}) as { _connected?: unknown; _connecting?: unknown };
  if (typeof pool?.query !== 'function' || (_connected === false && _connecting === false)) {
    throw new TypeError(`postgresStorage needs a pg Pool, a connected pg Client or a PGlite:
pass new pg.Pool(), or call client.connect() first`);
  }
  // PostgreSQL cuts longer names, so that two tables would be one.
  const table = quote(options.table, '"', 'schema', 63);
  const server: Server<PgClient, PostgresTable> = {
    source: isPool(pool) ? poolOf(pool) : { connection: pool },
    meaningOf,
    checkOut(client) {
      if (isInTransaction(client)) throw new OpenTransaction();
    },
    assumed: tableOf(table),
    async look(client) {
      const { rows } = await client.query(lookAt, [table, members]).catch((error) => {
        // A database that has no such catalogue.
        if (meaningOf(error, true) === 'rejected') return { rows: [] };
        throw error;
      });
      return rows.length > 0 ? tableOf(table, foundIn(table, rows)) : undefined;
    },
    insert: async (client, known, plants) => {
      checkTrailingSpaces(table, known.columns, plants);
      return insert(client, known, plants, isPool(pool));
    },
    async select(client, { find }, id) {
      const { rows } = await client.query(find, [String(id)]).catch((error) => {
        // No row has an id that the column cannot hold.
        if (error?.code === outOfRange) return { rows: [] };
        throw error;
      });
      return rows[0];
    },
    createTable: (client) => client.query(schemaOf(table)),
  };
  return serverStorage(server, options);
}

async function insert(
  client: PgClient,
  table: PostgresTable,
  plants: readonly NewPlant[],
  isOwn: boolean,
): Promise<CreateOutcome[]> {
  const values = members.map((member) => plants.map((plant) => textOf(plant[member])));
  const notices: Message[] = [];
  const onNotice = (notice: Message) => notices.push(notice);
  let status: string | undefined;
  const onReady = (message: { status?: string }) => {
    status = message.status;
  };
  client.on?.('notice', onNotice);
  if (!client.getTransactionStatus) client.connection?.on?.('readyForQuery', onReady);
  const inserting = client.query(table.insert, values).catch((error) => {
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
  return client.query(table.stored, [values[0]]).then(
    ({ rows: stored }) => outcomesOf(plants, created, stored),
    (error) => {
      // The keys are as PostgreSQL spells them: of a type that spells ids otherwise, all are in doubt.
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
