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

it('outlives a server that greets and takes its leave in one packet, as one that is shut down does', async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, farewell])));
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
  const { create } = postgresStorage(pool, { timeoutMs: 1_000 });
  await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow();
  await pool.end();
});
