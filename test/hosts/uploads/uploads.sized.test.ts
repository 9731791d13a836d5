/** Uploads that are refused: on one host of each adapter, and with `npm run test:heavy` larger ones, on every host on Node. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isHeavy } from '../../support/heavy.js';
import { listen, mountOf, raw } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { type Host, oneOfEachAdapter } from '../hosts.js';
import { beginUpload, mebibyte } from './begin-upload.js';
import { eachIsAnswered, nextIsAnswered, startedFor, startHost } from './refused-uploads.js';

const all = isHeavy ? (await import('../../ecosystem/hosts.js')).everyHost : oneOfEachAdapter;
const isHttp1 = ({ name }: Host) => !/http2|HTTP\/2/.test(name);
const mebibytes = isHeavy ? 6 : 2;
const piece = Buffer.alloc(mebibyte, 0x20);

/** The handler called by the app itself, which decides when to send the response and when to close. */
const byHand: Host = {
  name: 'node:http with { body: request }',
  start: (handle) =>
    listen(
      createServer(async (request, response) => {
        const { method = '', url = '', headers } = request;
        const answer = await handle({ method, url, headers, body: request });
        response.writeHead(answer.status, answer.headers).end(answer.body);
      }),
    ),
};

/** This row's Hapi is initialized, not started, and closes the connection; a started one takes the next request. */
const cutsUploads = ({ name }: Host) => name === 'Hapi';

describe.each(named([...all, byHand].filter(isHttp1)))('on %s', (_, host) => {
  if (host !== byHand) eachIsAnswered(host, mebibytes, 'close');
  if (!cutsUploads(host)) nextIsAnswered(host, mebibytes);
});

describe.each(named(all))('an upload that is rejected early, on %s', (_, host) => {
  const running = startedFor(host);

  test.each([
    ['a declared length', 100 * mebibyte],
    ['no declared length', undefined],
  ])('a client that reads while it writes 100 MiB, with %s, gets the 400', async (_, length) => {
    const { stream, write, answer } = beginUpload(running().url, { token: 'secret', length });
    let isAnswered = false;
    answer.then(() => {
      isAnswered = true;
    });
    // A write that the server no longer takes ends only with the connection, half a second later.
    for (let i = 0; i < 100 && !isAnswered; i++) await Promise.race([write(piece), answer]);
    expect(await answer).toBe('400 40006');
    stream.destroy();
  });
});

describe('an upload that never ends', () => {
  const plain = all.filter((host) => isHttp1(host) && host.name !== 'node:https');
  // All at once, because each connection stays open for 500 ms after its last progress.
  test.concurrent.each(named(plain))('is cut off on %s', async (_, host) => {
    const { url, close } = await startHost(host);
    const { stream, opened, write, closed } = beginUpload(url, { token: 'secret', length: 1024 * mebibyte });
    await opened;
    stream.pause();
    let sent = 0;
    for (; !stream.destroyed; sent++) await write(piece);
    await closed;
    // The kernels' buffers come on top of 16.
    expect(sent).toBeLessThan(48);
    await close();
  });
});

/** Uploads what never ends, and reads meanwhile: the response, after which it stops. */
async function pour(url: string): Promise<string> {
  const { stream, write, answer } = beginUpload(url, { token: 'bad', length: 1024 * mebibyte });
  let isAnswered = false;
  answer.then(() => {
    isAnswered = true;
  });
  const part = piece.subarray(0, 2 ** 16);
  while (!isAnswered && !stream.destroyed) await Promise.race([write(part), answer]);
  stream.destroy();
  return answer;
}

describe.each(named(all))('clients of %s', (_, host) => {
  const running = startedFor(host);

  test('that upload without end, 100 at once, each get the 401, and another its plant meanwhile', async () => {
    const pouring = Array.from({ length: 100 }, () => pour(running().url));
    const { stream, write, answer } = beginUpload(running().url, { token: 'secret', length: 2 });
    write(Buffer.from('{}'));
    if (!isHttp1(host)) stream.end();
    expect(await answer).toBe('400 40002');
    stream.destroy();
    expect(await Promise.all(pouring)).toEqual(Array(100).fill('401 40102'));
  });

  test('that close their writing side in the middle of a rejected upload, once they have the response, are disconnected', async () => {
    const { stream, write, answer, closed } = beginUpload(running().url, { token: 'bad', length: 1000 });
    await write(Buffer.alloc(500));
    expect(await answer).toBe('401 40102');
    stream.end();
    await closed;
  });
});

/** Milliseconds that a request may take. */
const timeoutMs = 1_000;

/** A token that is rejected, a body that is too large, and one that is accepted until it times out. */
const drips = [
  { token: 'bad', length: 1000, expected: '401 40102' },
  { token: 'secret', length: 1024 * mebibyte, expected: '400 40006' },
  { token: 'secret', length: 1000, expected: '400 40007' },
];

const kept = all.filter((host) => isHttp1(host) && host.name !== 'node:https');
test.concurrent.each(named(kept))(
  'a client of %s that asks for the close, ends its upload after the response, and never closes, is disconnected',
  async (_, host) => {
    const { url, port, server, close } = await startHost(host);
    const disconnected = new Promise<void>((resolve) => {
      server.on('connection', (socket: Socket) => socket.on('close', () => resolve()));
    });
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const line = `POST ${mountOf(url)}/plants HTTP/1.1`;
    client.write(raw(['Connection: close', 'Content-Length: 1000'], 'x'.repeat(500), { line }));
    const [response] = await once(client, 'data');
    expect(String(response)).toMatch(/^HTTP\/1.1 401 /);
    client.write('x'.repeat(500));
    await disconnected;
    client.destroy();
    await close();
  },
);

describe('an upload that comes a byte at a time', () => {
  test.concurrent.each(named(all))('gets its response and is cut off on %s', async (_, host) => {
    const { url, close } = await startHost(host, { timeoutMs });
    const drip = async ({ token, length, expected }: (typeof drips)[number], connection: string) => {
      const begun = performance.now();
      const { stream, answer, closed } = beginUpload(url, { token, length, connection });
      const dripping = setInterval(() => stream.write(' '), 50);
      await closed;
      clearInterval(dripping);
      if (connection === 'close') expect(await answer).toBe(expected);
      // One second after the timeout, and four for a machine that other work keeps busy.
      if (isHeavy) expect(performance.now() - begun).toBeLessThan(timeoutMs + 5_000);
    };
    await Promise.all(drips.flatMap((one) => [drip(one, 'close'), drip(one, 'keep-alive')]));
    await close();
  });
});
