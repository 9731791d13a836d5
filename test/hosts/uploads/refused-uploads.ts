/** Uploads that are refused, by clients that write all of it before they read, as many proxies do. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Running } from '../../support/sockets.js';
import { titled } from '../../support/titled.js';
import type { Host } from '../hosts.js';

const mebibyte = 2 ** 20;

/** How an upload of `size` bytes is refused: before a byte of it is read, and while it is read. */
const refusals = [
  { error: 40102, status: 401, why: 'its token', token: 'bad', isDeclared: true },
  { error: 40006, status: 400, why: 'its declared length', token: 'secret', isDeclared: true },
  { error: 40006, status: 400, why: 'its length, which is not declared', token: 'secret', isDeclared: false },
] as const;

type Refusal = (typeof refusals)[number];

/** The head of a request that uploads `size` bytes; `connection` is the value of the header of that name. */
function head(url: string, { token, isDeclared }: Refusal, size: number, connection: string): string {
  const path = new URL(url).pathname.replace(/\/$/, '');
  const framing = isDeclared ? `Content-Length: ${size}` : 'Transfer-Encoding: chunked';
  return `POST ${path}/plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: ${connection}\r\n${framing}\r\n\r\n`;
}

/** An upload of spaces, in the framing of `head`. */
function upload({ isDeclared }: Refusal, size: number): Buffer {
  const spaces = Buffer.alloc(size, 0x20);
  return isDeclared
    ? spaces
    : Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), spaces, Buffer.from('\r\n0\r\n\r\n')]);
}

/**
 * Sends each request after the response to the one before it, over one connection, and reads nothing until a
 * request is written. Resolves with the status of each answer and the number of its Error, or with `closed`.
 */
async function answersTo(url: string, requests: readonly (readonly (string | Buffer)[])[]) {
  const { protocol, port } = new URL(url);
  const options = { host: '127.0.0.1', port: Number(port), rejectUnauthorized: false };
  const socket = protocol === 'https:' ? connectTls(options) : connect(options);
  let isClosed = false;
  let received = '';
  let wake = () => {};
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  socket.on('data', (chunk) => {
    received += chunk;
    wake();
  });
  await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect');
  const answers: string[] = [];
  for (const parts of requests) {
    socket.pause();
    for (const part of parts) {
      await new Promise<void>((resolve) => {
        socket.write(part, () => resolve());
        socket.once('close', () => resolve());
      });
    }
    socket.resume();
    let answer = answered(received);
    while (!answer && !isClosed) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      answer = answered(received);
    }
    answers.push(answer ? `${answer[1]} ${answer[2] ?? ''}`.trim() : 'closed');
    received = '';
  }
  socket.destroy();
  return answers;
}

/** Status, and number of the Error if there is one. */
const answered = (received: string) =>
  /^HTTP\/1\.1 (\d+) .*\r\n\r\n.*\{(?:"error":(\d+)|"name").*\}/s.exec(received);

/** Eight clients at once: some of them would lose their answer to a socket that is destroyed too early. */
export function eachIsAnswered(host: Host, mebibytes: number, connection: 'close' | 'keep-alive'): void {
  const started = startedFor(host);
  const size = mebibytes * mebibyte;
  test.each(titled(refusals, ({ why, status }) => `get the ${status} if it is for ${why}`))(
    `8 of 8 clients whose upload of ${mebibytes} MiB with Connection: ${connection} is rejected %s`,
    async (_, refusal) => {
      const { url } = started();
      const request = [head(url, refusal, size, connection), upload(refusal, size)];
      const answers = await Promise.all(Array.from({ length: 8 }, () => answersTo(url, [request])));
      expect(answers).toEqual(Array(8).fill([`${refusal.status} ${refusal.error}`]));
    },
  );
}

/** The remaining body of a rejected upload must not block its connection. */
export function nextIsAnswered(host: Host, mebibytes: number): void {
  const started = startedFor(host);
  const size = mebibytes * mebibyte;
  test.each(titled(refusals, ({ why }) => why))(
    `a request after an upload of ${mebibytes} MiB that was rejected for %s gets its response`,
    async (_, refusal) => {
      const { url } = started();
      const plant = Buffer.from(`{"id":${refusals.indexOf(refusal)},"name":"Rosa"}`);
      const answers = await answersTo(url, [
        [head(url, refusal, size, 'keep-alive'), upload(refusal, size)],
        [head(url, refusals[1], plant.length, 'keep-alive'), plant],
      ]);
      expect(answers).toEqual([`${refusal.status} ${refusal.error}`, '200']);
    },
  );
}

/** Has the host started before the tests. */
function startedFor({ basePath, start }: Host): () => Running {
  let running: Running;
  beforeAll(async () => {
    running = await start(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath }));
  });
  afterAll(() => running.close());
  return () => running;
}
