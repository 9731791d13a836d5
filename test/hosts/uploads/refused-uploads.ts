/** Uploads that are refused, by clients that write all of it before they read, as many proxies do. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { acceptTokens, createPlantStore, type PlantStoreOptions } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lastChunk, mountOf, type Running, raw } from '../../support/sockets.js';
import { titled } from '../../support/titled.js';
import type { Host } from '../hosts.js';
import { beginUpload, mebibyte } from './begin-upload.js';

/** How an upload is refused: before a byte of it is read, and while it is read. */
const refusals = [
  { expected: '401 40102', why: 'its token', token: 'bad', isDeclared: true },
  { expected: '400 40006', why: 'its declared length', token: 'secret', isDeclared: true },
  { expected: '400 40006', why: 'its length, which is not declared', token: 'secret', isDeclared: false },
] as const;

type Refusal = (typeof refusals)[number];

/** Uploads all of it before it reads the response; the connection stays open. */
async function refuse(url: string, { token, isDeclared }: Refusal, size: number, connection: string) {
  const length = isDeclared ? size : undefined;
  const { stream, opened, write, answer } = beginUpload(url, { token, connection, length });
  await opened;
  stream.pause();
  await write(Buffer.alloc(size, 0x20));
  if (!isDeclared) stream.write(lastChunk);
  stream.resume();
  return { stream, answer: await answer };
}

/** What comes within this time is read before the response: milliseconds. */
const readFirstMs = 500;

/**
 * Eight clients at once: some of them would lose their answer to a socket that is destroyed too early.
 *
 * @param isProxied whether a proxy is in front: some lose a response that comes while they still write, as on a busy machine
 */
export function eachIsAnswered(
  host: Host,
  mebibytes: number,
  connection: 'close' | 'keep-alive',
  { clients = 8, isProxied = false } = {},
): void {
  const started = startedFor(host);
  test.each(titled(refusals, ({ why, expected }) => `get the ${expected} if it is for ${why}`))(
    `${clients} of ${clients} clients whose upload of ${mebibytes} MiB with Connection: ${connection} is rejected %s`,
    async (_, refusal) => {
      const upload = async () => {
        const startedAt = performance.now();
        const { stream, answer } = await refuse(started().url, refusal, mebibytes * mebibyte, connection);
        return { stream, answer, isLate: performance.now() - startedAt > readFirstMs };
      };
      const uploads = await Promise.all(Array.from({ length: clients }, upload));
      for (const { answer, isLate } of uploads)
        if (!(isProxied && isLate)) expect(answer).toBe(refusal.expected);
      for (const { stream } of uploads) stream.destroy();
    },
  );
}

/** The remaining body of a rejected upload must not block its connection. */
export function nextIsAnswered(host: Host, mebibytes: number): void {
  const started = startedFor(host);
  test.each(titled(refusals, ({ why }) => why))(
    `a request after an upload of ${mebibytes} MiB that was rejected for %s gets its response`,
    async (_, refusal) => {
      const { url } = started();
      const startedAt = performance.now();
      const { stream, answer } = await refuse(url, refusal, mebibytes * mebibyte, 'keep-alive');
      const isLate = performance.now() - startedAt > readFirstMs;
      expect(answer).toBe(refusal.expected);
      const headers = ['Authorization: Bearer secret', 'Content-Type: application/json'];
      const line = `POST ${mountOf(url)}/plants HTTP/1.1`;
      const closed = once(stream, 'close').then(() => ['closed']);
      const response = Promise.race([once(stream, 'data'), closed]).catch(() => ['closed']);
      stream.write(raw(headers, `{"id":${refusals.indexOf(refusal)},"name":"Rosa"}`, { line }));
      // On a busy machine: hosts with the Fetch API close the connection then, as their page says.
      if (isLate && (stream.destroyed || (await response)[0] === 'closed')) return;
      expect(String((await response)[0])).toMatch(/^HTTP\/1\.1 200 /);
      stream.destroy();
    },
  );
}

/** A plant after each of ten rejected uploads, by Node's client, which reads while it writes, on a connection that it keeps. */
export function turnsAreAnswered(host: Host): void {
  const started = startedFor(host);
  test.each([60_000, 200_000, 2_000_000])(
    'on a kept connection ten uploads of %i bytes that are rejected get their 401, and the plants between them their 200',
    async (size) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const send = async (token: string, body: string | Uint8Array) => {
        const headers = {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': body.length,
        };
        const sending = request(`${started().url}/plants`, { method: 'POST', agent, headers });
        const [response] = (await once(sending.end(body), 'response')) as [IncomingMessage];
        await text(response);
        return response.statusCode;
      };
      for (let i = 0; i < 10; i++) {
        expect(await send('bad', new Uint8Array(size))).toBe(401);
        expect(await send('secret', `{"id":${size + i},"name":"Rosa"}`)).toBe(200);
      }
      agent.destroy();
    },
  );
}

export const startHost = ({ basePath, start }: Host, options: PlantStoreOptions = {}): Promise<Running> =>
  start(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath, ...options }));

/** Has the host started before the tests. */
export function startedFor(host: Host): () => Running {
  let running: Running;
  beforeAll(async () => {
    running = await startHost(host);
  });
  afterAll(() => running.close());
  return () => running;
}
