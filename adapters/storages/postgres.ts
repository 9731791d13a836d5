import type { CreateOutcome, NewPlant } from '../../src/index.js';
import { meaningOf } from './_postgres-errors.js';
import {
  type Columns,
  definitionsOf,
  membersOf,
  outcomesOf,
  quote,
  type Server,
  type SqlOptions,
  type SqlStorage,
  serverStorage,
  valuesOf,
} from './_sql.js';

/** The part of a `pg` Pool or Client, of PGlite, or of a custom object that this storage uses. */
export interface PostgresPool {
  // biome-ignore lint/suspicious/noExplicitAny: drivers disagree on what a value and a row may be
  query(text: string, values?: any[]): Promise<{ rows: any[] }>;
}

/** The part of a `pg` Pool that this storage uses, in addition to `query`. */
interface PgPool {
  readonly totalCount: number;
  connect(callback: (error: unknown, client: PgClient) => void): void;
}

interface PgClient extends PostgresPool {
  on?(event: 'notice' | 'error', listener: (message: Message) => void): unknown;
  off?(event: 'notice' | 'error', listener: (message: Message) => void): unknown;
  release?(error?: unknown): void;
}

interface Message {
  readonly message?: string | undefined;
  readonly routine?: string | undefined;
}

/** The options of `postgresStorage`. */
export type PostgresOptions = SqlOptions;

/** What `postgresStorage` returns. */
export type PostgresStorage = SqlStorage;

const columns: Columns = { id: 'bigint PRIMARY KEY', name: 'text NOT NULL', tag: 'text' };
const list = membersOf(columns).join(', ');

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf('"plants"');

function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (${definitionsOf(columns)})`;
}

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
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
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
  const server: Server<PgClient> = {
    connect: () => connect(pool),
    release,
    meaningOf,
    insert: (client, plants) => insertFree(client, table, plants),
    async select(client, id) {
      const select = `SELECT ${list} FROM ${table} WHERE id = $1::bigint`;
      return (await client.query(select, [id])).rows[0];
    },
    createTable: (client) => client.query(schemaOf(table)),
  };
  return serverStorage(server, options);
}

/** On a `pg` Pool, checks out a client, to hear its notices. */
function connect(pool: PostgresPool & Partial<PgPool>): PgClient | Promise<PgClient> {
  if (pool.totalCount === undefined || !pool.connect) return pool;
  return new Promise((resolve, reject) => {
    pool.connect?.((error, client) => {
      // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
      client?.on?.('error', ignore);
      if (error) reject(error);
      else resolve(client);
    });
  });
}

/** With an error the pool discards the connection; for a bad plant the connection is kept. */
function release(client: PgClient, error?: unknown): void {
  client.off?.('error', ignore);
  client.release?.(error && meaningOf(error, false) !== 'rejected' ? error : undefined);
}

async function insertFree(
  client: PgClient,
  table: string,
  plants: readonly NewPlant[],
): Promise<CreateOutcome[]> {
  const members = membersOf(columns);
  const arrays = members.map((member, i) => `$${i + 1}::${columns[member].split(' ', 1)}[]`);
  // Ids travel as text, because an app may have set its own int8 parser. Sorted, so that two instances cannot
  // deadlock. ON CONFLICT waits for a rival transaction to commit. The warning of `isUnreplicated` must not be filtered.
  const insert = `INSERT INTO ${table} (${list})
SELECT ${list} FROM unnest(${arrays}) AS new (${list}),
set_config('client_min_messages', 'warning', true) ORDER BY id
ON CONFLICT (id) DO NOTHING RETURNING id::text AS id`;
  const rows = plants.map((plant) => valuesOf(columns, plant));
  const values = members.map((_, i) => rows.map((row) => row[i]));
  const notices: Message[] = [];
  const onNotice = (notice: Message) => notices.push(notice);
  client.on?.('notice', onNotice);
  const inserting = client.query(insert, values);
  const { rows: created } = await inserting.finally(() => client.off?.('notice', onNotice));
  const unreplicated = notices.find(isUnreplicated);
  if (unreplicated) throw new Error(`not replicated: ${unreplicated.message}`);
  if (created.length === plants.length) return outcomesOf(plants, created);
  return client.query(`SELECT id::text AS id FROM ${table} WHERE id = ANY($1::bigint[])`, [values[0]]).then(
    ({ rows: stored }) => outcomesOf(plants, created, stored),
    (error) => outcomesOf(plants, created, [], error),
  );
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
 * plant at the next failover.
 */
function isUnreplicated({ message, routine }: Message): boolean {
  return routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication') === true;
}

function ignore(): void {}
