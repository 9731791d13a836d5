/** A PostgreSQL behind `fetch`, for drivers of runtimes that have no sockets. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { PGlite } from '@electric-sql/pglite';
import { listen } from '../../support/sockets.js';

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
  const { url, close: closeServer } = await listen(server);
  const close = async () => {
    await closeServer();
    await database.close();
  };
  return { url, close };
}
