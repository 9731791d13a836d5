import { EventEmitter } from 'node:events';
import { createServer } from 'node:net';
import pg from 'pg';
import { type PostgresPool, postgresStorage, schemaOf } from 'plant-store/postgres';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../support/sockets.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';
import { messageOf, ownServer } from './postgres-server.js';

it('postgresStorage survives a server that accepts and closes in one packet, as a server does that is shutting down', async () => {
  const refusal = messageOf('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0');
  const answer = Buffer.concat([messageOf('R', '\0\0\0\0'), messageOf('Z', 'I'), refusal]);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  const pool = new pg.Pool({ connectionString: `postgres://postgres:x@127.0.0.1:${port}/postgres` });
  pool.on('error', () => {});
  const { create } = postgresStorage(pool, { timeoutMs: 500 });
  await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow();
  await pool.end();
});

const own = ownServer();

it.each<[string, string, (url: string) => string]>([
  ['28000', 'role "nobody" does not exist', (url) => url.replace('postgres@', 'nobody@')],
  ['3D000', 'database "garden" does not exist', (url) => url.replace('/postgres?', '/garden?')],
  // It has the code of an index that is deferrable.
  [
    '55000',
    'database "closed" is not currently accepting connections',
    (url) => url.replace('/postgres?', '/closed?'),
  ],
])(
  'postgresStorage is busy at once, without a retry, if the server refuses the login with %s: %s',
  async (code, message, urlFrom) => {
    if (code === '55000') await own.pool.query('CREATE DATABASE closed ALLOW_CONNECTIONS false');
    const pool = new pg.Pool({ connectionString: urlFrom(own.server.url) });
    const { create, find } = postgresStorage(pool);
    const busy = {
      name: 'StorageBusy',
      message:
        'the server refuses the login. Check user, password or token, database and SSL in the settings of the pool or client',
      cause: { code, message },
    };
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject(busy);
    await expect(find(1n, context)).rejects.toMatchObject(busy);
  },
);

it('postgresStorage fails at once after the app has ended its pool', async () => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1 });
  await pool.end();
  await expect(postgresStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
    name: 'StorageBusy',
    message: 'the app has closed the database connection',
  });
});

/** The messages of the error of a create, and of its causes. */
async function causesOf(creating: Promise<unknown>): Promise<string[]> {
  const causes: string[] = [];
  let error = await creating.catch((error: unknown) => error);
  for (; error instanceof Error; error = error.cause) causes.push(error.message);
  return causes;
}

it('postgresStorage says what the pool says of a connection that it does not give', async () => {
  const pool = own.poolOf({ max: 1 });
  const held = await pool.connect();
  onTestFinished(() => held.release());
  // Only now: on a busy machine the first connection takes longer.
  pool.options.connectionTimeoutMillis = 20;
  const causes = await causesOf(
    postgresStorage(pool, { timeoutMs: 200 }).create({ id: 1n, name: 'Rosa' }, context),
  );
  expect(causes.slice(-2)).toEqual([
    'the pool gave no connection: 0 of 1 idle, 1 waiting',
    'timeout exceeded when trying to connect',
  ]);
});

it('postgresStorage says on Workers that each request needs a pool of its own', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  // Its connection belongs to a request that has ended.
  const pool = { totalCount: 1, idleCount: 0, waitingCount: 1, query: async () => ({}), connect: () => {} };
  const told = await causesOf(
    postgresStorage(pool as never, { timeoutMs: 100 }).create({ id: 1n, name: 'Rosa' }, context),
  );
  expect(told.join('; ')).toContain(
    'the pool gave no connection: 0 of 1 idle, 1 waiting. On Workers, make a pool for each request',
  );
});

/** A `pg` Pool of one client whose INSERTs have this result, and which shows nothing of its tables. */
function poolOf(insert: (client: EventEmitter) => Promise<{ rows: { key: string }[] }>) {
  const inserted = vi.fn(() => insert(client));
  const query = async (given: string | { readonly text: string }) => {
    const text = typeof given === 'string' ? given : given.text;
    // A lone INSERT returns no row, and its count.
    return text.startsWith('INSERT') ? { ...(await inserted()), rowCount: 1 } : { rows: [] };
  };
  const client = Object.assign(new EventEmitter(), { query, release: vi.fn() });
  const connect = (done: (error: undefined, connected: typeof client) => void) => done(undefined, client);
  return { client, inserted, pool: { totalCount: 1, query, connect } as unknown as PostgresPool };
}

it('postgresStorage checks clients out of a pool behind a Proxy that opens it on first use', async () => {
  const { client, pool } = poolOf(async () => ({ rows: [{ key: '1' }] }));
  const lazy = new Proxy({} as PostgresPool, { get: (_, name) => Reflect.get(pool, name) });
  expect(await postgresStorage(lazy).create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  expect(client.release).toHaveBeenCalledTimes(1);
});

it('postgresStorage leaves no listener on a client of the pool, and no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const { client, pool } = poolOf(async () => ({ rows: [{ key: '1' }] }));
  const storage = postgresStorage(pool);
  const before = timers();
  expect(await storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  await storage.find(1n, context);
  expect(client.release).toHaveBeenCalledTimes(2);
  expect(client.eventNames()).toEqual([]);
  // Timers of others may have ended meanwhile.
  expect(timers()).toBeLessThanOrEqual(before);
});

it.each([
  [
    'in the language of the server',
    { message: 'Warten auf synchrone Replikation', routine: 'SyncRepWaitForLSN' },
  ],
  ['next to another notice', { routine: 'SyncRepWaitForLSN' }, {}],
])('a commit that no standby has is an error, reported %s', async (_how, ...notices) => {
  const { pool } = poolOf(async (client) => {
    for (const notice of notices.reverse()) client.emit('notice', notice);
    return { rows: [{ key: '1' }] };
  });
  const creating = postgresStorage(pool).create({ id: 1n, name: 'Rosa' }, context);
  await expect(creating).rejects.toThrow('not replicated');
});

it('a pooler without a server leaves one call unknown, and then nothing is sent until it has one', async () => {
  const without = Object.assign(new Error('server login has been failing, try again later'), {
    code: '08P01',
  });
  const texts: string[] = [];
  let hasServer = true;
  const query = async (text: string, values?: unknown[]) => {
    texts.push(text.slice(0, 6));
    if (!hasServer) throw without;
    return own.pool.query(text, values);
  };
  await own.pool.query(schemaOf({ table: 'pooled' }));
  const { create } = postgresStorage({ query }, { table: 'pooled', timeoutMs: 2000 });
  expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  hasServer = false;
  await expect(create({ id: 2n, name: 'Rosa' }, context)).rejects.toBe(without);
  texts.length = 0;
  await expect(create({ id: 3n, name: 'Rosa' }, context)).rejects.toMatchObject({
    name: 'StorageBusy',
    cause: without,
  });
  expect(texts.filter((text) => text === 'INSERT')).toEqual([]);
  hasServer = true;
  let id = 4n;
  // A busy machine may need longer than the 250 ms of a probe.
  await waitFor(async () => expect(await create({ id: id++, name: 'Rosa' }, context)).toBe('created'));
});
