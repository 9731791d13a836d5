import { groupCommitDefaults } from '../../src/group-commit.js';
import {
  type GroupCommitOptions,
  groupCommit,
  type NewPlant,
  type PlantStorage,
  RolledBack,
} from '../../src/index.js';

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
export interface PostgresOptions extends GroupCommitOptions {
  /** The table, with its schema in front or not: `plants`, `garden.plants`. Each part is quoted. Default: `plants`. */
  readonly table?: string | undefined;
}

/** A storage, and how to make its table. */
export interface PostgresStorage extends PlantStorage {
  /** Makes the table unless there is one. Safe while other instances do the same, and can be called again. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

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
  const table = quote(name);
  // Ids are text on their way in and out: an app may have set any parser for int8. Sorted, so that two instances
  // never wait for each other's rows; ON CONFLICT waits for a rival's commit before it says that an id is taken.
  const insert = `INSERT INTO ${table} (id, name, tag)
SELECT id, name, tag FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (id, name, tag) ORDER BY id
ON CONFLICT (id) DO NOTHING RETURNING id::text AS id`;

  async function createMany(plants: readonly NewPlant[]): Promise<('created' | 'taken')[]> {
    const ids = plants.map(({ id }) => String(id));
    const names = plants.map((plant) => plant.name);
    const tags = plants.map(({ tag }) => tag ?? null);
    const created = new Set<unknown>();
    const rows = await write(pool, timeoutMs, insert, [ids, names, tags]);
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
      // IF NOT EXISTS looks before it makes: who loses that race is told so by the catalogue, and finds the table then.
      await pool.query(schemaOf(table)).catch((error) => {
        if (!/^(23505|42P07|42710)$/.test(error?.code)) throw error;
        return pool.query(schemaOf(table));
      });
    },
  };
}

/**
 * Runs a statement that writes, for so long at most: a frozen server would keep a pool's connections for ever. Rejects
 * also when it went through, but not to the standby that it waited for.
 */
async function write(
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
    failure = rolledBack(error) ?? error;
    throw failure;
  } finally {
    clearTimeout(timer);
    // With an error the pool throws the connection away; a plant at fault is no fault of the connection.
    release((failure as RolledBack | undefined)?.resend === 'apart' ? undefined : failure);
  }
}

function ignore(): void {}

/** Of a `pg` Pool a connection of its own, to hear what the server says beside the result. */
function connect(pool: PostgresPool & Partial<PgPool>): PgClient | Promise<PgClient> {
  if (pool.totalCount === undefined || !pool.connect) return pool;
  return new Promise((resolve, reject) => {
    pool.connect?.((error, client) => {
      // Nothing was sent yet, whatever it is; but a wrong password stays wrong.
      if (error) return reject(lasting.test(codeOf(error)) ? error : new RolledBack('together', error));
      // At once, for a server's farewell may come with its greeting: an error that nobody hears ends the process.
      client.on?.('error', ignore);
      resolve(client);
    });
  });
}

/**
 * PostgreSQL commits all the same when its wait for a standby is cut short, and says so in a warning alone: told
 * `created`, the client would lose the plant at the next failover.
 */
function unreplicated({ message, routine }: Message): Error | undefined {
  const cutShort = routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication');
  return cutShort ? new Error(`not replicated: ${message}`) : undefined;
}

/** Conflicts, a standby that was asked, a server that takes nobody in: the next attempt may find it otherwise. */
const passing = /^(40001|40P01|25006|57P03|53300|ECONNREFUSED)$/;

/** A user or a password that the server does not take, a database that it does not have. */
const lasting = /^(28|3D)/;

/** Data and constraints, limits, and what a trigger raises. */
const plantAtFault = /^(22|23|44|54|P0)/;

/** The error as a sure rollback, `undefined` where the plants may be stored: 57P01, 40003, a lost connection. */
function rolledBack(error: unknown): RolledBack | undefined {
  const code = codeOf(error);
  if (passing.test(code)) return new RolledBack('together', error);
  if (plantAtFault.test(code)) return new RolledBack('apart', error);
  return undefined;
}

/** The SQLSTATE of an error of the server, or what the system calls an error of the connection. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code);
}

function quote(name: string): string {
  const parts = typeof name === 'string' ? name.split('.') : [];
  if (parts.length < 1 || parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    throw new TypeError('table must be a name, or a schema and a name with a dot between');
  }
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}
