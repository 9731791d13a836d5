import { groupCommitDefaults } from '../../src/group-commit.js';
import { groupCommit, type NewPlant, type RolledBack } from '../../src/index.js';
import { classified, type Meaning, quote, type SqlOptions, type SqlStorage } from './_sql.js';

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
 * @throws {TypeError} that names a bad option
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
  const { table: name = 'plants', ...groupOptions } = options;
  const { timeoutMs = groupCommitDefaults.timeoutMs } = groupOptions;
  const table = quote(name, '"', 'schema');
  // Ids travel as text, because an app may have set its own int8 parser. Sorted, so that two instances cannot
  // deadlock. ON CONFLICT waits for a rival transaction to commit.
  const insert = `INSERT INTO ${table} (id, name, tag)
SELECT id, name, tag FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (id, name, tag) ORDER BY id
ON CONFLICT (id) DO NOTHING RETURNING id::text AS id`;

  async function createMany(plants: readonly NewPlant[]): Promise<('created' | 'taken')[]> {
    const ids = plants.map(({ id }) => String(id));
    const names = plants.map((plant) => plant.name);
    const tags = plants.map(({ tag }) => tag ?? null);
    const created = new Set<unknown>();
    const rows = await queryWithin(pool, timeoutMs, insert, [ids, names, tags]);
    for (const { id } of rows) created.add(id);
    return ids.map((id) => (created.has(id) ? 'created' : 'taken'));
  }

  return {
    ...groupCommit(createMany, groupOptions),
    async find(id) {
      const select = `SELECT id::text AS id, name, tag FROM ${table} WHERE id = $1::bigint`;
      const [row] = (await pool.query(select, [String(id)])).rows;
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

/**
 * Runs a statement within `timeoutMs`: a frozen server would keep the connection for ever. Also rejects if it was
 * committed but not replicated.
 */
async function queryWithin(
  pool: PostgresPool,
  timeoutMs: number,
  text: string,
  values: unknown[],
): Promise<{ id: string }[]> {
  const client = await connect(pool);
  let failure: unknown;
  const onNotice = (notice: Message) => {
    failure ??= unreplicated(notice);
  };
  client.on?.('notice', onNotice);
  let release = (error?: unknown) => {
    release = ignore;
    client.off?.('notice', onNotice);
    client.off?.('error', ignore);
    client.release?.(error);
  };
  const timer = setTimeout(() => release(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const { rows } = await client.query(text, values);
    if (failure) throw failure;
    return rows;
  } catch (error) {
    failure = classified(error, meaningOf(error));
    throw failure;
  } finally {
    clearTimeout(timer);
    // With an error the pool discards the connection; for a bad plant the connection is kept.
    release((failure as RolledBack | undefined)?.resend === 'apart' ? undefined : failure);
  }
}

function ignore(): void {}

/** On a `pg` Pool, checks out a client, to hear its notices. */
function connect(pool: PostgresPool & Partial<PgPool>): PgClient | Promise<PgClient> {
  if (pool.totalCount === undefined || !pool.connect) return pool;
  return new Promise((resolve, reject) => {
    pool.connect?.((error, client) => {
      // Nothing has been sent yet: safe to retry, except for a wrong password or database.
      if (error) return reject(classified(error, permanent.test(codeOf(error)) ? 'permanent' : 'transient'));
      // Listen at once: the server may close the connection right away, and an unheard `error` event ends the process.
      client.on?.('error', ignore);
      resolve(client);
    });
  });
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
 * plant at the next failover.
 */
function unreplicated({ message, routine }: Message): Error | undefined {
  const cutShort = routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication');
  return cutShort ? new Error(`not replicated: ${message}`) : undefined;
}

/** Serialization failure, deadlock, read-only standby, server starting, too many connections, refused. */
const transient = /^(40001|40P01|25006|57P03|53300|ECONNREFUSED)$/;

/** Wrong user, password or database. */
const permanent = /^(28|3D)/;

/** Data, constraints, limits, a trigger's error. */
const plantAtFault = /^(22|23|44|54|P0)/;

/** Unknown are 57P01, 40003, a lost connection. */
function meaningOf(error: unknown): Meaning {
  const code = codeOf(error);
  if (transient.test(code)) return 'transient';
  return plantAtFault.test(code) ? 'plantAtFault' : 'unknown';
}

/** The SQLSTATE of a server's error, or the system's code of a connection's error. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code);
}
