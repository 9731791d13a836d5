/** Uploads that are refused early: on one host of each adapter, and with `npm run test:heavy` on every host on Node. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isHeavy } from '../../support/heavy.js';
import type { Running } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { everyHost, type Host, oneOfEachAdapter } from '../hosts.js';

const all = isHeavy ? everyHost : oneOfEachAdapter;
const mebibyte = 2 ** 20;
const piece = Buffer.alloc(mebibyte, 0x20);
const http1 = ({ name }: Host) => !/http2|https|HTTP\/2/.test(name);

const head = (path: string, length: number, token = 'secret', connection = 'keep-alive') =>
  `POST ${path}/plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: ${connection}\r\nContent-Length: ${length}\r\n\r\n`;

describe.each(named(all))('an upload that is rejected early, on %s', (_, host) => {
  let running: Running;
  beforeAll(async () => {
    running = await host.start(
      createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: host.basePath }),
    );
  });
  afterAll(() => running.close());

  test.each([
    ['a declared length', true],
    ['no declared length', false],
  ])('a client that reads while it writes 100 MB, with %s, gets the 400', async (_, declared) => {
    const answer = await uploadAndRead(running.url, 100, declared);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 40006]);
  });

  if (http1(host)) {
    test('a client that reads only after it wrote 8 MB gets the 400', async () => {
      const { port, pathname } = new URL(running.url);
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket.pause().write(head(pathname.replace(/\/$/, ''), 8 * mebibyte));
      for (let i = 0; i < 8; i++) await written(socket, piece);
      const [answer] = (await once(socket.resume(), 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 .*"error":40006/s);
      socket.destroy();
    });
  }
});

describe('an upload that never ends', () => {
  const cutOff = all.filter(http1);
  const uploads = new Map<Host, Promise<number>>();
  // All at once, because each connection stays open for 500 ms after its last progress.
  beforeAll(() => {
    for (const host of cutOff) uploads.set(host, uploadUntilClosed(host));
  });

  test.each(named(cutOff))('is cut off on %s', async (_, host) => {
    expect(await uploads.get(host)).toBeLessThan(128);
  });
});

/** Milliseconds that a request may take. */
const timeoutMs = 1_000;

/** A token that is rejected, a body that is too large, and one that is accepted until it times out. */
const drips = [
  ['bad', 1000],
  ['secret', 1024 * mebibyte],
  ['secret', 1000],
] as const;

describe('an upload that comes a byte at a time', () => {
  test.concurrent.each(named(all))('gets its response and is cut off on %s', async (_, host) => {
    const { basePath, start } = host;
    const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath, timeoutMs });
    const { url, close } = await start(handle);
    const ends = drips.flatMap(([token, length]) => [
      drip(url, token, length, 'close'),
      drip(url, token, length, 'keep-alive'),
    ]);
    const [refused, , large, , accepted] = await Promise.all(ends);
    expect([refused, large, accepted].map((end) => end?.status)).toEqual(['401', '400', '400']);
    // Where the machine is known to be quiet enough, the promise itself: one second after the timeout at most.
    if (isHeavy) for (const end of await Promise.all(ends)) expect(end.ms).toBeLessThan(timeoutMs + 1_500);
    await close();
  });
});

/** Sends a byte each 50 ms until the server closes the connection or the stream. */
async function drip(url: string, token: string, length: number, connection: string) {
  const { protocol, host, port, pathname } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  const begun = performance.now();
  let status = '';
  let upload: Writable;
  if (protocol === 'h2c:') {
    const session = connectHttp2(`http://${host}`);
    const fields = {
      ':method': 'POST',
      ':path': `${path}/plants`,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': length,
    };
    upload = session
      .request(fields)
      .on('response', (received) => {
        status = String(received[':status']);
      })
      .on('close', () => session.destroy())
      .resume();
  } else {
    const to = { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false };
    const socket = protocol === 'https:' ? connectTls(to) : connect(to);
    upload = socket.on('data', (received) => {
      status ||= received.toString().slice(9, 12);
    });
    socket.write(head(path, length, token, connection));
  }
  const dripping = setInterval(() => upload.write(' '), 50);
  await new Promise((resolve) => upload.on('error', () => {}).on('close', resolve));
  clearInterval(dripping);
  return { status, ms: performance.now() - begun };
}

/** Uploads until the server closes the connection. Resolves with how many megabytes the kernel has taken. */
async function uploadUntilClosed({ basePath, start }: Host): Promise<number> {
  const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath });
  const { url, close } = await start(handle);
  const { port, pathname } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.pause().write(head(pathname.replace(/\/$/, ''), 1024 * mebibyte));
  let sent = 0;
  while (!socket.destroyed && (await written(socket, piece).catch(() => false))) sent++;
  await closed;
  await close();
  return sent;
}

/** Writes megabytes until the answer comes, and reads the answer. */
async function uploadAndRead(
  url: string,
  megabytes: number,
  declared: boolean,
): Promise<{ status: number; text: string }> {
  const { protocol, host, hostname, port, pathname } = new URL(url);
  const path = `${pathname.replace(/\/$/, '')}/plants`;
  const headers = {
    authorization: 'Bearer secret',
    'content-type': 'application/json',
    ...(declared && { 'content-length': megabytes * mebibyte }),
  };
  if (protocol === 'h2c:') {
    const session = connectHttp2(`http://${host}`);
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
    const answered = once(stream, 'response');
    write(stream, megabytes, answered);
    const [received] = await answered;
    let body = '';
    stream.on('data', (chunk) => {
      body += chunk;
    });
    await once(stream, 'end');
    session.destroy();
    return { status: Number(received[':status']), text: body };
  }
  const options = { hostname, port, path, method: 'POST', headers, agent: false as const };
  const request =
    protocol === 'https:' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
  // The server may cut the connection after its answer.
  request.on('error', () => {});
  const answered = once(request, 'response');
  write(request, megabytes, answered);
  const [response] = await answered;
  const answer = { status: response.statusCode as number, text: await text(response) };
  request.destroy();
  return answer;
}

async function write(upload: Writable, megabytes: number, answered: Promise<unknown>): Promise<void> {
  let done = false;
  const stop = () => {
    done = true;
  };
  answered.then(stop, stop);
  upload.on('close', stop).on('error', stop);
  for (let i = 0; i < megabytes && !done; i++) {
    if (!upload.write(piece)) {
      await Promise.race([
        answered.catch(() => {}),
        new Promise<void>((resolve) => upload.once('drain', resolve)),
      ]);
    }
  }
  if (!done) upload.end();
}

/** Settles when the kernel has taken all bytes. */
function written(socket: Socket, data: Uint8Array): Promise<true> {
  return new Promise((resolve, reject) => {
    socket.once('close', reject);
    socket.write(data, (error) => {
      socket.off('close', reject);
      if (error) reject(error);
      else resolve(true);
    });
  });
}
