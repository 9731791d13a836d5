// Clients that leave before their answer, and the signal that fires then.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { PlantHandler, PlantStorage, Signal, VerifyToken } from 'plant-store';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { heldBatch } from '../../support/held-batch.js';
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

  test('is the same one at each read', async () => {
    const { port, calls } = await start({ serve });
    await post(port);
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

/** A handler whose request is a proxy, as of a wrapper that changes another member. */
function proxied(handle: PlantHandler): PlantHandler {
  return (request) => handle(new Proxy(request, { get: (target, key) => Reflect.get(target, key) }));
}

describe.each(servers)('a create that waits for a batch on %s', (_, serve, post, closing) => {
  /** A batch that is in flight until `end` is called, and a create that waits for it. */
  async function waiting(wrap?: typeof proxied) {
    const { storage, sent, begun, waits, end } = heldBatch();
    const { port, errors, calls } = await start({ serve, storage, wrap });
    await post(port);
    await Promise.all([begun, calls.next()]);
    const isWaiting = waits();
    const { leave } = await post(port);
    const { request, response } = await calls.next();
    await isWaiting;
    return { leave, end, request, response, errors, sent };
  }

  test('is sent although its client disconnects meanwhile', async () => {
    const { leave, end, request, response, errors, sent } = await waiting();
    const closed = closing(request.raw as IncomingMessage);
    leave();
    await closed;
    end();
    expect(errorOf({ text: (await response).body })).toBe(40003);
    expect(sent).toEqual([[1n], [1n]]);
    expect(errors).toEqual([]);
  });

  test.each([
    [', and needs no AbortController for that', undefined],
    [' and its request is a proxy', proxied],
  ])('is sent if its client stays%s', async (_, wrap) => {
    const { end, response, sent, errors } = await waiting(wrap);
    const made = vi.spyOn(globalThis, 'AbortController');
    onTestFinished(() => made.mockRestore());
    end();
    expect(errorOf({ text: (await response).body })).toBe(40003);
    expect(sent).toEqual([[1n], [1n]]);
    expect(errors).toEqual([]);
    if (!wrap) expect(made).not.toHaveBeenCalled();
  });
});
