/** A PostgreSQL behind `fetch`, for drivers of runtimes that have no sockets. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { PGlite } from '@electric-sql/pglite';

export async function openDatabase(sql: string) {
  const database = await PGlite.create();
  await database.exec(sql);
  const server = createServer(async (request, response) => {
    const { text, values } = (await json(request)) as { text: string; values: unknown[] };
    const answer = await database
      .query(text, values)
      .catch(({ code, message }) => ({ error: { code, message } }));
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.close();
    await database.close();
  };
  return { url, close, exec: (text: string) => database.exec(text) };
}
