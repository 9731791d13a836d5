/** Bodies that clients send in several writes, a stream that gives them out in pieces, and their tests on one host. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { type Duplex, Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mountOf, type Running } from '../../support/sockets.js';
import type { Host } from '../hosts.js';

const fields = { authorization: 'Bearer good', 'content-type': 'application/json' };

/** A body by its parts, each written once the server has what came before, or all in one iteration of the event loop. */
interface Sending {
  readonly parts: readonly string[];
  readonly isDeclared: boolean;
  /** Resolves when the server's stream has `length` bytes of the body. */
  readonly untilReceived?: ((length: number) => Promise<void>) | undefined;
}

interface Received {
  readonly status: number;
  readonly text: string;
}

/** Sends a create by the client of Node that speaks the protocol of the mount. */
async function sendInParts({ url }: Running, sending: Sending): Promise<Received> {
  const { protocol, host, hostname, port } = new URL(url);
  const path = `${mountOf(url)}/plants`;
  const length = sending.isDeclared && { 'content-length': `${lengthOf(sending.parts)}` };
  if (!protocol.startsWith('h2')) {
    const options = { hostname, port, path, method: 'POST', headers: { ...fields, ...length }, agent: false };
    const request =
      protocol === 'https:'
        ? httpsRequest({ ...options, rejectUnauthorized: false })
        : httpRequest(options as object);
    const responded = new Promise<Received>((resolve, reject) => {
      request.on('error', reject).on('response', (response) => {
        text(response).then((text) => resolve({ status: response.statusCode!, text }), reject);
      });
    });
    await writeAll(request, sending);
    return responded;
  }
  const session = connect(`${protocol === 'h2:' ? 'https' : 'http'}://${host}`, {
    rejectUnauthorized: false,
  });
  const stream = session.request({ ':method': 'POST', ':path': path, ...fields, ...length });
  const responded = new Promise<number>((resolve, reject) => {
    stream.on('error', reject).on('response', (headers) => resolve(Number(headers[':status'])));
  });
  await writeAll(stream as Duplex, sending);
  const received = { status: await responded, text: await text(stream as Duplex) };
  session.close();
  return received;
}

/** Sends a create by `fetch`, which reads the body from a stream. */
async function fetchInParts({ url }: Running, { parts }: Sending): Promise<Received> {
  const body = Readable.toWeb(Readable.from(parts.map((part) => Buffer.from(part)))) as ReadableStream;
  const init = { method: 'POST', headers: fields, body, duplex: 'half' };
  const response = await fetch(`${url}/plants`, init as RequestInit);
  return { status: response.status, text: await response.text() };
}

const lengthOf = (parts: readonly string[]): number => Buffer.byteLength(parts.join(''));

async function writeAll(target: Writable, { parts, untilReceived }: Sending): Promise<void> {
  let written = 0;
  for (const part of parts) {
    target.write(part);
    written += Buffer.byteLength(part);
    await untilReceived?.(written);
  }
  target.end();
}

/** Resolves after some turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (; count > 0; count--) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when the request's stream has this many bytes, or as many as it buffers. */
async function untilBuffered(request: IncomingMessage, length: number): Promise<void> {
  // A request of HTTP/2 takes nothing of its stream before it is read.
  if ('stream' in request) return turns(5);
  const enough = Math.min(length, request.readableHighWaterMark);
  while (!request.complete && !request.readableDidRead && request.readableLength < enough) {
    await turns(1);
  }
}

/**
 * Makes `read()` return one of several buffers, as Node 26, Bun and Deno do: of seven bytes, or of a fiftieth of what waits,
 * because thousands of small ones take seconds and show no more.
 */
export function readByBuffers(request: IncomingMessage): void {
  const { read } = request;
  request.read = function (size) {
    const piece = Math.max(7, Math.ceil(this.readableLength / 50));
    return read.call(this, size ?? (Math.min(piece, this.readableLength) || undefined));
  };
}

const plant = '{"id":9007199254740993,"name":"Rosa canina"}';
const large = JSON.stringify({ id: 2, name: 'x'.repeat(40_000) });
const pieces = (text: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    text.slice(Math.floor((i * text.length) / count), Math.floor(((i + 1) * text.length) / count)),
  );

/** A body by its parts, and the id of the plant that comes of it; without one it is no JSON. */
const bodies: readonly (readonly [parts: readonly string[], id?: bigint])[] = [
  [[plant], 9007199254740993n],
  [pieces(plant, 2), 9007199254740993n],
  [pieces(plant, 11), 9007199254740993n],
  [[large], 2n],
  [pieces(large, 3), 2n],
  [[plant, 'x']],
  [[plant, plant]],
  [[...pieces(plant, 2), ' {}']],
  [[plant, ' '.repeat(40_000), '1']],
];

/** Declares one host: each body, in each framing, in one packet and in several, before and while the token is verified. */
export function wholeBodiesOn({ start, basePath }: Host, onRequest = (_: IncomingMessage) => {}) {
  const plants = new Map<bigint, NewPlant>();
  let verifying: (request: IncomingMessage) => Promise<unknown>;
  let latest: IncomingMessage;
  const verifyToken = async () => {
    await verifying(latest);
    return true;
  };
  const handle = createPlantStore(memoryStorage(plants), verifyToken, { basePath });
  let running: Running;
  beforeAll(async () => {
    running = await start(handle);
    running.server.prependListener('request', (request: IncomingMessage) => {
      latest = request;
      onRequest(request);
    });
  });
  afterAll(() => running.close());

  const expectWhole = async (sending: Sending, id: bigint | undefined, send = sendInParts) => {
    plants.clear();
    const { status, text } = await send(running, sending);
    const { parts, ...how } = sending;
    const what = `${parts.map((part) => part.length)} ${JSON.stringify(how)}: ${status} ${text.slice(0, 99)}`;
    expect([...plants.keys()], what).toEqual(id === undefined ? [] : [id]);
    expect(status === 200 || JSON.parse(text).error, what).toBe(id === undefined ? 40001 : true);
    if (id === 2n) expect(plants.get(2n)!.name, what).toHaveLength(40_000);
  };

  test.each([true, false])(
    'in one iteration of the event loop, its length declared: %s',
    async (isDeclared) => {
      verifying = async () => {};
      for (const [parts, id] of bodies) await expectWhole({ parts, isDeclared }, id);
    },
  );

  test.each([true, false])(
    'that has all come when the token is verified, declared: %s',
    async (isDeclared) => {
      for (const [parts, id] of bodies) {
        verifying = (request) => untilBuffered(request, lengthOf(parts));
        await expectWhole({ parts, isDeclared }, id);
      }
    },
  );

  test.each([true, false])('in packets while the token is verified, declared: %s', async (isDeclared) => {
    for (const [parts, id] of bodies) {
      const requested = once(running.server, 'request').then(([request]) => request as IncomingMessage);
      const untilReceived = async (length: number) => untilBuffered(await requested, length);
      verifying = () => untilReceived(lengthOf(parts));
      await expectWhole({ parts, isDeclared, untilReceived }, id);
    }
  });

  test('in packets after the token was verified', async () => {
    for (const [parts, id] of bodies) {
      verifying = async () => {};
      const requested = once(running.server, 'request');
      const untilReceived = async () => {
        await requested;
        await turns(3);
      };
      await expectWhole({ parts, isDeclared: false, untilReceived }, id);
    }
  });

  test('by fetch of a stream', async () => {
    if (!running.url.startsWith('http:')) return;
    verifying = async () => {};
    for (const [parts, id] of bodies) await expectWhole({ parts, isDeclared: false }, id, fetchInParts);
  });
}
