import { type BatchCall, type CreateOutcome, groupCommit, type NewPlant } from '../../src/index.js';
import { meaningOf } from './_postgres-errors.js';
import {
  type Connections,
  onConnection,
  outcomesOf,
  quote,
  type SqlOptions,
  type SqlStorage,
  splitOptions,
  within,
} from './_sql.js';

/** What is used of a `pg` Pool or Client, of PGlite, or of anything that queries as they do. */
export interface PostgresPool {
  // biome-ignore lint/suspicious/noExplicitAny: drivers disagree on what a value and a row may be
  query(text: string, values?: any[]): Promise<{ rows: any[] }>;
}

/** What a `pg` Pool has beyond that. */
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
export interface PostgresOptions extends SqlOptions {
  /** The table, with its schema in front or not: `plants`, `garden.plants`. Each part is quoted. Default: `plants`. */
  readonly table?: string | undefined;
}

/** What `postgresStorage` returns. */
export type PostgresStorage = SqlStorage;

/** The table, in SQL, to be made by a migration or by `createTable`. */
export const schema = schemaOf('"plants"');

function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (id bigint PRIMARY KEY, name text NOT NULL, tag text)`;
}

/**
 * Keeps plants in PostgreSQL or what speaks like it, on a pool of your own, which it neither configures nor closes.
 * Many instances may share one database. Plants are as durable as `fsync` and `synchronous_commit` make them there.
 * Give the pool an `error` listener, for idle connections that are lost. All callers share one table.
 *
 * @throws {TypeError} that names a bad argument or option
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
  checkPool(pool);
  const { table: name, timeoutMs, groupOptions } = splitOptions(options);
  const table = quote(name, '"', 'schema', maxNameBytes);
  const connections: Connections<PgClient> = { connect: () => connect(pool), release, meaningOf };
  const statements = statementsOn(table);

  return {
    ...groupCommit(
      (plants: readonly NewPlant[], _contexts, call: BatchCall) =>
        onConnection(connections, call, (client) => insertFree(client, statements, plants)),
      groupOptions,
    ),
    async find(id) {
      const { rows } = await within(timeoutMs, (call) =>
        onConnection(connections, call, async (client) => client.query(statements.selectPlant, [String(id)])),
      );
      const [row] = rows;
      return row && { id: BigInt(row.id), name: row.name, tag: row.tag ?? undefined };
    },
    async createTable() {
      // IF NOT EXISTS can race: the loser gets an error of the catalogue; its second try finds the table.
      await pool.query(schemaOf(table)).catch((error) => {
        if (!/^(23505|42P07|42710)$/.test(error?.code)) throw error;
        return pool.query(schemaOf(table));
      });
    },
  };
}

/** PostgreSQL cuts longer names, so that two tables would be one. */
const maxNameBytes = 63;

function checkPool(pool: PostgresPool & { _connected?: unknown; _connecting?: unknown }): void {
  if (typeof pool?.query !== 'function') {
    throw new TypeError(
      'postgresStorage needs a pg Pool, a connected pg Client or a PGlite: pass new pg.Pool()',
    );
  }
  if (pool._connected === false && pool._connecting === false) {
    throw new TypeError(
      'postgresStorage needs a connected pg Client: call client.connect() first, or pass a pg.Pool',
    );
  }
}

function statementsOn(table: string) {
  return {
    // Ids travel as text, because an app may have set its own int8 parser. Sorted, so that two instances cannot
    // deadlock. ON CONFLICT waits for a rival transaction to commit. The warning of `unreplicated` must not be filtered.
    insert: `INSERT INTO ${table} (id, name, tag)
SELECT id, name, tag FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (id, name, tag),
set_config('client_min_messages', 'warning', true) ORDER BY id
ON CONFLICT (id) DO NOTHING RETURNING id::text AS id`,
    selectIds: `SELECT id::text AS id FROM ${table} WHERE id = ANY($1::bigint[])`,
    selectPlant: `SELECT id::text AS id, name, tag FROM ${table} WHERE id = $1::bigint`,
  };
}

async function insertFree(
  client: PgClient,
  { insert, selectIds }: ReturnType<typeof statementsOn>,
  plants: readonly NewPlant[],
): Promise<CreateOutcome[]> {
  const ids = plants.map(({ id }) => String(id));
  const names = plants.map((plant) => plant.name);
  const tags = plants.map(({ tag }) => tag ?? null);
  const created = idsOf(await queryReplicated(client, insert, [ids, names, tags]));
  if (created.size === ids.length) return ids.map(() => 'created');
  try {
    return outcomesOf(plants, created, idsOf((await client.query(selectIds, [ids])).rows));
  } catch (error) {
    return ids.map((id) => (created.has(id) ? 'created' : (error as Error)));
  }
}

function idsOf(rows: readonly { id: unknown }[]): Set<unknown> {
  return new Set(rows.map(({ id }) => id));
}

/** Rejects also if the rows were committed but not replicated. */
async function queryReplicated(
  client: PgClient,
  text: string,
  values: unknown[],
): Promise<readonly { id: unknown }[]> {
  let failure: Error | undefined;
  const onNotice = (notice: Message) => {
    failure ??= unreplicated(notice);
  };
  client.on?.('notice', onNotice);
  try {
    const { rows } = await client.query(text, values);
    if (failure) throw failure;
    return rows;
  } finally {
    client.off?.('notice', onNotice);
  }
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
 * plant at the next failover.
 */
function unreplicated({ message, routine }: Message): Error | undefined {
  const cutShort = routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication');
  return cutShort ? new Error(`not replicated: ${message}`) : undefined;
}

/** On a `pg` Pool, checks out a client, to hear its notices. */
function connect(pool: PostgresPool & Partial<PgPool>): PgClient | Promise<PgClient> {
  if (pool.totalCount === undefined || !pool.connect) return pool;
  return new Promise((resolve, reject) => {
    pool.connect?.((error, client) => {
      if (error) return reject(error);
      // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
      client.on?.('error', ignore);
      resolve(client);
    });
  });
}

/** With an error the pool discards the connection; for a bad plant the connection is kept. */
function release(client: PgClient, error?: unknown): void {
  client.off?.('error', ignore);
  client.release?.(error && meaningOf(error, false) !== 'plantAtFault' ? error : undefined);
}

function ignore(): void {}
