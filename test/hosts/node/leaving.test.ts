// Clients that leave before their answer, and the signal that fires then.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { constants, createServer as http2Server } from 'node:http2';
import type { Server } from 'node:net';
import type { PlantHandler, PlantStorage, Signal, VerifyToken } from 'plant-store';
import type { toNode } from 'plant-store/node';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { endStream, Frames, frameTypes } from '../../support/frames.js';
import { heldBatch } from '../../support/held-batch.js';
import { raw, Wire } from '../../support/sockets.js';
import { errorOf, fields, json, rose, start, token } from './server.js';

const plain = (listener: ReturnType<typeof toNode>): Server => createServer(listener);
const framed = (listener: ReturnType<typeof toNode>): Server => http2Server(listener);
const servers = [
  ['node:http', plain],
  ['node:http2', framed],
] as const;

/** Sends a plant to a server of this name. */
async function post(
  name: string,
  port: number,
): Promise<{ leave: () => void; answered: () => Promise<unknown> }> {
  if (name === 'node:http') {
    const wire = await Wire.open(port);
    await wire.write(raw([token, json], rose));
    return { leave: () => wire.destroy(), answered: () => wire.answer() };
  }
  const frames = await Frames.open(port);
  frames.headers(1, fields);
  frames.data(1, rose, endStream);
  return {
    leave: () => frames.reset(1, constants.NGHTTP2_CANCEL),
    answered: () => frames.next(frameTypes.data, 1),
  };
}

describe.each(servers)('the signal of a request on %s', (name, serve) => {
  test('aborts when the client disconnects, and the AbortError of the storage is not reported', async () => {
    const begun = deferred();
    const storage: PlantStorage = {
      create: (_plant, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          begun.resolve();
        }),
    };
    const { port, errors, calls } = await start({ serve, storage });
    const { leave } = await post(name, port);
    await begun.promise;
    leave();
    const { response } = await calls.next();
    expect(errorOf({ text: (await response).body })).toBe(50001);
    expect(errors).toEqual([]);
  });

  test('is the same one at each read', async () => {
    const { port, calls } = await start({ serve });
    await post(name, port);
    const { request } = await calls.next();
    expect(request.signal).toBeInstanceOf(AbortSignal);
    expect(request.signal).toBe(request.signal);
  });

  test('has aborted already if it is first read after the client disconnected', async () => {
    const decision = deferred<boolean>();
    let aborted: boolean | undefined;
    const verifyToken: VerifyToken<boolean> = async (_token, context) => {
      await decision.promise;
      aborted = context.signal.aborted;
      return true;
    };
    const { port, calls } = await start({ serve, verifyToken });
    const { leave } = await post(name, port);
    const { request, response } = await calls.next();
    // Not `once`, because it would also listen to `error`.
    const closed = new Promise((resolve) => (request.raw as IncomingMessage).on('close', resolve));
    leave();
    await closed;
    decision.resolve(true);
    await response;
    expect(aborted).toBe(true);
  });

  test('does not abort after the response, although the connection closes', async () => {
    const signals: Signal[] = [];
    let closed: Promise<unknown> | undefined;
    const storage: PlantStorage = {
      async create(_plant, { signal, request }) {
        signals.push(signal, request.signal!);
        const incoming = request.raw as IncomingMessage;
        // Requests share an HTTP/2 connection, so wait for the stream to close.
        closed = once(name === 'node:http' ? incoming.socket : incoming, 'close');
        return 'created';
      },
    };
    const { port } = await start({ serve, storage });
    const { leave, answered } = await post(name, port);
    await answered();
    leave();
    await closed;
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
  });
});

/** A handler whose request is a proxy, as of a wrapper that changes another member. */
function proxied(handle: PlantHandler): PlantHandler {
  return (request) => handle(new Proxy(request, { get: (target, key) => Reflect.get(target, key) }));
}

describe.each(servers)('a create that waits for a batch on %s', (name, serve) => {
  /** A batch that is in flight until `end` is called, and a create that waits for it. */
  async function waiting(wrap?: typeof proxied) {
    const { storage, sent, begun, waits, end } = heldBatch();
    const { port, errors, calls } = await start({ serve, storage, wrap });
    await post(name, port);
    await Promise.all([begun, calls.next()]);
    const isWaiting = waits();
    const { leave } = await post(name, port);
    const { request, response } = await calls.next();
    await isWaiting;
    return { leave, end, request, response, errors, sent };
  }

  test.each([
    ['', undefined],
    [', and its request is a proxy', proxied],
  ])('is not sent if its client disconnects meanwhile%s', async (_, wrap) => {
    const { leave, end, request, response, errors, sent } = await waiting(wrap);
    const incoming = request.raw as IncomingMessage;
    const closed = once(name === 'node:http' ? incoming.socket : incoming, 'close');
    leave();
    await closed;
    end();
    expect(errorOf({ text: (await response).body })).toBe(50301);
    expect(sent).toEqual([[1n]]);
    expect(errors).toEqual([]);
  });

  test('is sent if its client stays, and needs no AbortController for that', async () => {
    const { end, response, sent } = await waiting();
    const made = vi.spyOn(globalThis, 'AbortController');
    onTestFinished(() => made.mockRestore());
    end();
    expect(errorOf({ text: (await response).body })).toBe(40003);
    expect(sent).toEqual([[1n], [1n]]);
    expect(made).not.toHaveBeenCalled();
  });

  test('is sent if its client stays and its request is a proxy', async () => {
    const { end, response, sent, errors } = await waiting(proxied);
    end();
    expect(errorOf({ text: (await response).body })).toBe(40003);
    expect(sent).toEqual([[1n], [1n]]);
    expect(errors).toEqual([]);
  });
});

describe('nothing is stored, and onError is not called, if a client disconnects during verifyToken', () => {
  const http1 = async (port: number, body: string) => {
    const wire = await Wire.open(port);
    await wire.write(raw([token, json, `Content-Length: ${rose.length}`], body));
    return wire;
  };
  const http2 = async (port: number, body: string) => {
    const frames = await Frames.open(port);
    frames.headers(1, fields);
    frames.data(1, body, body === rose ? endStream : 0);
    return frames;
  };
  const resetWith = (code: number) => async (port: number, body: string) => {
    const frames = await http2(port, body);
    return () => frames.reset(1, code);
  };
  const ways = [
    [
      'node:http, closed',
      plain,
      async (...to: [number, string]) => http1(...to).then((wire) => () => wire.destroy()),
    ],
    [
      'node:http, reset',
      plain,
      async (...to: [number, string]) => http1(...to).then((wire) => () => wire.reset()),
    ],
    ['node:http2, CANCEL', framed, resetWith(constants.NGHTTP2_CANCEL)],
    ['node:http2, NO_ERROR', framed, resetWith(constants.NGHTTP2_NO_ERROR)],
    ['node:http2, INTERNAL_ERROR', framed, resetWith(constants.NGHTTP2_INTERNAL_ERROR)],
    [
      'node:http2, connection closed',
      framed,
      async (...to: [number, string]) => http2(...to).then((frames) => () => frames.destroy()),
    ],
  ] as const;
  const parts = [
    ['half a body', rose.slice(0, 12)],
    ['a whole body', rose],
  ] as const;

  test.each(ways.flatMap((way) => parts.map(([part, body]) => [part, ...way, body] as const)))(
    'after %s on %s',
    async (_part, _how, serve, begin, body) => {
      const decision = deferred<boolean>();
      const { port, plants, errors, calls } = await start({ serve, verifyToken: () => decision.promise });
      const leave = await begin(port, body);
      const { request, response } = await calls.next();
      const gone = once(request.signal!, 'abort');
      leave();
      await gone;
      decision.resolve(true);
      expect(errorOf({ text: (await response).body })).toBe(40007);
      expect(plants.size).toBe(0);
      expect(errors).toEqual([]);
    },
  );
});
