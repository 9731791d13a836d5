import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterEach, expect, it } from 'vitest';

const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};

let server: Server;
afterEach(() => server.close());

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const authenticated = message('R', Buffer.from([0, 0, 0, 0]));
const ready = message('Z', Buffer.from('I'));
const farewell = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

const refusal = message('E', Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0'));
const starting = message('E', Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0'));

/** A storage on a server that answers the first packet of each connection with these bytes, then closes it. */
async function storageOn(answer: Buffer) {
  let connections = 0;
  server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const pool = new pg.Pool({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database: 'postgres',
    password: 'x',
  });
  pool.on('error', () => {});
  return { pool, storage: postgresStorage(pool, { timeoutMs: 500 }), connections: () => connections };
}

it('survives a server that accepts and closes in one packet, as a server does that is shutting down', async () => {
  const { pool, storage } = await storageOn(Buffer.concat([authenticated, ready, farewell]));
  await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow();
  await pool.end();
});

it('fails at once if the password is wrong', async () => {
  const { pool, storage, connections } = await storageOn(refusal);
  await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
    name: 'StorageBusy',
    cause: { code: '28P01' },
  });
  await expect(storage.find(1n, context)).rejects.toMatchObject({ code: '28P01' });
  expect(connections()).toBe(2);
  await pool.end();
});

it('connects again while the create has time if the server is starting up; then nothing was stored', async () => {
  const { pool, storage, connections } = await storageOn(starting);
  await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
    name: 'StorageBusy',
    cause: { code: '57P03' },
  });
  expect(connections()).toBeGreaterThan(1);
  await pool.end();
});
