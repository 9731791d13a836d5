/** `toNode` on a free port with a store of its own, for tests that send single bytes. */
import { EventEmitter, on } from 'node:events';
import { createServer } from 'node:http';
import { constants, createServer as createHttp2 } from 'node:http2';
import type { Server } from 'node:net';
import {
  createPlantStore,
  type NewPlant,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
  type PlantStorage,
  type PlantStoreOptions,
  type VerifyToken,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { onTestFinished } from 'vitest';
import { endStream, Frames, frameTypes } from '../../support/frames.js';
import { chunk, listen, raw, Wire, type WireAnswer } from '../../support/sockets.js';

export { rose } from '../../support/plants.js';

export const token = 'Authorization: Bearer good';
export const json = 'Content-Type: application/json';
export const roseCreated = { status: 200, text: '{"name":"Rosa canina"}' };

export const fields = {
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': '/plants',
  authorization: 'Bearer good',
  'content-type': 'application/json',
};

/** A call of the handler. */
interface Call {
  readonly request: PlantRequest;
  readonly response: Promise<PlantResponse>;
}

/** Starts a server for one test, and records its calls, its errors and its plants. */
export async function start({
  serve = (listener) => createServer(listener),
  options = {},
  plants = new Map<bigint, NewPlant>(),
  storage = memoryStorage(plants),
  verifyToken = (given) => given === 'good',
  wrap = (handle) => handle,
}: {
  serve?: (listener: ReturnType<typeof toNode>) => Server;
  options?: PlantStoreOptions;
  plants?: Map<bigint, NewPlant>;
  storage?: PlantStorage;
  verifyToken?: VerifyToken<boolean>;
  wrap?: ((handle: PlantHandler) => PlantHandler) | undefined;
} = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error);
  };
  const handle = wrap(createPlantStore(storage, verifyToken, { onError, ...options }));
  const emitter = new EventEmitter();
  // Keeps the calls that no test has waited for yet.
  const emitted = on(emitter, 'call');
  const calls = { next: async (): Promise<Call> => (await emitted.next()).value[0] };
  const observed: PlantHandler = (request) => {
    const response = handle(request);
    emitter.emit('call', { request, response } satisfies Call);
    return response;
  };
  const { port, close } = await listen(serve(toNode(observed)));
  onTestFinished(close);
  const open = async () => {
    const wire = await Wire.open(port);
    onTestFinished(() => wire.destroy());
    return wire;
  };
  return { port, plants, errors, calls, open };
}

export const errorOf = ({ text }: Pick<WireAnswer, 'text'>) => JSON.parse(text).error;

/** A create whose body is still to be written, by a client that speaks byte by byte, or frame by frame. */
export interface Sender {
  write(part: string | Uint8Array, isLast?: boolean): unknown;
  /** The body of the response. */
  text(): Promise<string>;
  /** Disconnects in one of the ways of its protocol. */
  leave(way: string): unknown;
}

/** Without a length, HTTP/1 sends the body chunked, and a trailer that is no header. */
type Begin = (port: number, length?: number) => Promise<Sender>;

const waysOfHttp1: Record<string, (wire: Wire) => unknown> = {
  'closes the connection': (wire) => wire.destroy(),
  'resets the connection': (wire) => wire.socket.resetAndDestroy(),
  'breaks the chunked coding': (wire) => wire.write('no chunk\r\n'),
};

const waysOfHttp2: Record<string, (frames: Frames) => unknown> = {
  'resets the stream with CANCEL': (frames) => frames.reset(1, constants.NGHTTP2_CANCEL),
  'resets the stream with NO_ERROR': (frames) => frames.reset(1, constants.NGHTTP2_NO_ERROR),
  'resets the stream with INTERNAL_ERROR': (frames) => frames.reset(1, constants.NGHTTP2_INTERNAL_ERROR),
  'closes the connection': (frames) => frames.destroy(),
};

const beginHttp1: Begin = async (port, length) => {
  const wire = await Wire.open(port);
  onTestFinished(() => wire.destroy());
  const isChunked = length === undefined;
  await wire.write(
    raw([token, json, isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`]),
  );
  return {
    async write(part, isLast) {
      if (part.length > 0) await wire.write(isChunked ? chunk(part) : part);
      if (isLast && isChunked) await wire.write('0\r\nX-Trailer: authorization\r\n\r\n');
    },
    text: async () => (await wire.answer()).text,
    leave: (way) => waysOfHttp1[way]!(wire),
  };
};

const beginHttp2: Begin = async (port, length) => {
  const frames = await Frames.open(port);
  onTestFinished(() => frames.destroy());
  frames.headers(1, { ...fields, ...(length !== undefined && { 'content-length': `${length}` }) });
  return {
    write: (part, isLast) => frames.data(1, part, isLast ? endStream : 0),
    text: async () => (await frames.next(frameTypes.data, 1)).payload.toString(),
    leave: (way) => waysOfHttp2[way]!(frames),
  };
};

type Serve = (listener: ReturnType<typeof toNode>) => Server;

export const protocols: readonly (readonly [name: string, serve: Serve, begin: Begin, ways: string[]])[] = [
  ['node:http', (listener) => createServer(listener), beginHttp1, Object.keys(waysOfHttp1)],
  ['node:http2', (listener) => createHttp2(listener), beginHttp2, Object.keys(waysOfHttp2)],
];
