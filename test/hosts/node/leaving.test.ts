// Clients that leave before their answer, and the signal that fires then.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { PlantHandler, PlantRequest, PlantStorage, Signal, VerifyToken } from 'plant-store';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { errorOf, protocols, rose, start } from './server.js';

const servers = protocols.map(([name, serve, begin, [way]]) => {
  /** Sends a plant. */
  const post = async (port: number) => {
    const sender = await begin(port);
    await sender.write(rose, true);
    return { answered: sender.text, leave: () => sender.leave(way!) };
  };
  /** When its client has disconnected. Requests share an HTTP/2 connection, so wait for the stream to close. */
  const closing = (request: IncomingMessage) =>
    once(name === 'node:http' ? request.socket : request, 'close');
  return [name, serve, post, closing] as const;
});

describe.each(servers)('the signal of a request on %s', (_, serve, post, closing) => {
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
    const { leave } = await post(port);
    await begun.promise;
    leave();
    const { response } = await calls.next();
    expect(errorOf({ text: (await response).body })).toBe(50001);
    expect(errors).toEqual([]);
  });

  test('is the same one at each read, also through a proxy of the request', async () => {
    const wrap = (handle: PlantHandler) => (request: PlantRequest) =>
      handle(new Proxy(request, { get: (target, key) => Reflect.get(target, key) }));
    const signals: unknown[] = [];
    const storage: PlantStorage = {
      async create(_plant, { request }) {
        signals.push(request.signal, request.signal);
        return 'created';
      },
    };
    const { port, calls } = await start({ serve, storage, wrap });
    await post(port);
    const { request, response } = await calls.next();
    expect(await response).toMatchObject({ status: 200 });
    expect(request.signal).toBeInstanceOf(AbortSignal);
    expect(signals).toHaveLength(2);
    for (const signal of signals) expect(signal).toBe(request.signal);
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
    const { leave } = await post(port);
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
        closed = closing(request.raw as IncomingMessage);
        return 'created';
      },
    };
    const { port } = await start({ serve, storage });
    const { leave, answered } = await post(port);
    await answered();
    leave();
    await closed;
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
  });
});
