/**
 * What the adapters take from a runtime or a framework beyond its documentation: one named test for each, which runs on every
 * runtime and, once a week, on the newest release of all. Each is also shown to fail where the assumption does not hold.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import Koa from 'koa';
import mount from 'koa-mount';
import { describe, expect, test } from 'vitest';
import { nextMessage } from '../../src/timers.js';
import { deferred } from '../support/deferred.js';
import { root } from '../support/root.js';
import { listen, raw, Wire } from '../support/sockets.js';

interface Assumption<World> {
  readonly name: string;
  /** The file and the code that rest on it. */
  readonly restsOn: readonly [file: string, code: string];
  /** Whether it holds. `world` is what the runtime or framework gives. */
  readonly holds: (world: World) => Promise<boolean>;
  readonly real: World;
  /** A stand-in of which it does not hold. */
  readonly broken: World;
}

const assumptions: Assumption<never>[] = [];
const assume = <World>(assumption: Assumption<World>) => void assumptions.push(assumption as never);

/** Sends one request to a server, and returns what the server's own promise gives. */
async function asked<T>(server: Server, seen: Promise<T>, text = raw([], 'x')): Promise<T> {
  const { port, close } = await listen(server);
  const wire = await Wire.open(port);
  await wire.write(text);
  const value = await seen;
  wire.destroy();
  await close();
  return value;
}

/** Bun and Deno name themselves. */
const isNode = !('Bun' in globalThis) && !('Deno' in globalThis);

const expectContinue = raw(['Expect: 100-continue', 'Content-Length: 1']);

assume<(response: ServerResponse) => unknown>({
  name: 'a response of Node knows by `_sent100` that its 100 was sent',
  restsOn: ['adapters/hosts/_node/stream.ts', 'response._sent100'],
  real: (response) => (response as { _sent100?: boolean })._sent100,
  broken: () => undefined,
  async holds(isSent) {
    const server = createServer();
    const seen = once(server, 'checkContinue').then(([, response]: ServerResponse[]) => {
      const before = isSent(response!);
      response!.writeContinue();
      return !before && Boolean(isSent(response!));
    });
    return asked(server, seen, expectContinue);
  },
});

assume<(socket: Socket) => void>({
  name: 'Node ends a connection after its last response by `socket.destroySoon`',
  restsOn: ['adapters/hosts/_node/drain.ts', 'socket.destroySoon = '],
  real: () => {},
  broken: (socket) => Object.defineProperty(socket, 'destroySoon', { get: () => socket.destroy, set() {} }),
  async holds(prepare) {
    const server = createServer();
    const seen = once(server, 'request').then(async (given) => {
      const [request, response] = given as [IncomingMessage, ServerResponse];
      let isCalled = false;
      prepare(request.socket);
      request.socket.destroySoon = () => {
        isCalled = true;
        request.socket.destroy();
      };
      const closed = once(request.socket, 'close');
      response.end();
      await closed;
      return isCalled;
    });
    return asked(server, seen, raw(['Connection: close'], 'x'));
  },
});

assume<() => Promise<void>>({
  name: 'Node delivers a message of a channel when it has parsed the packet that a request came in',
  restsOn: ['adapters/hosts/_node/body.ts', 'nextMessage()'],
  real: nextMessage,
  broken: () => Promise.resolve(),
  async holds(later) {
    const server = createServer();
    const seen = new Promise<boolean>((resolve) => {
      server.once('request', (request: IncomingMessage) => later().then(() => resolve(request.complete)));
    });
    return asked(server, seen);
  },
});

assume<object | undefined>({
  name: "the ports of Node's channels, and of no other runtime's, have `on`",
  restsOn: ['src/timers.ts', 'MessagePort?.prototype.on'],
  real: globalThis.MessagePort?.prototype,
  broken: isNode ? {} : { on() {} },
  holds: async (prototype) => (typeof (prototype as { on?: unknown }).on === 'function') === isNode,
});

const asLeft: Koa.Middleware = (_context, next) => next();
const without =
  (name: string): Koa.Middleware =>
  (context, next) => {
    Object.defineProperty(context, name, { value: undefined, writable: false });
    return next();
  };

/** What a Koa context has where a middleware looks. */
async function leftOn(name: string, ...middlewares: ((look: Koa.Middleware) => Koa.Middleware)[]) {
  const app = new Koa();
  app.silent = true;
  const seen = new Promise<unknown>((resolve) => {
    for (const place of middlewares)
      app.use(place((context) => resolve((context as unknown as Record<string, unknown>)[name])));
    app.use(() => resolve(undefined));
    app.on('error', () => resolve(undefined));
  });
  return asked(createServer(app.callback()), seen);
}

assume<Koa.Middleware>({
  name: 'koa-mount leaves what it has removed from the path in `context.mountPath`',
  restsOn: ['adapters/hosts/koa.ts', 'mountPath.endsWith('],
  real: asLeft,
  broken: without('mountPath'),
  holds: async (before) =>
    (await leftOn(
      'mountPath',
      () => before,
      (look) => mount('/plants', look),
    )) === '/plants',
});

/** The request that @hono/node-server gives to its app, for a body of `length` bytes that is declared to have less. */
async function requestOfHono(use: (request: Request) => Promise<boolean>): Promise<boolean> {
  let resolve: (value: boolean) => void;
  const seen = new Promise<boolean>((settle) => {
    resolve = settle;
  });
  const listener = getRequestListener(
    async (request) => {
      resolve(await use(request));
      return new Response();
    },
    { overrideGlobalObjects: false },
  );
  return asked(createServer(listener), seen, `${raw(['Content-Length: 5'], '12345')}67890`);
}

assume<(request: Request) => object>({
  name: "the prototype of @hono/node-server's light request has no constructor of its own, and that of a Request has",
  restsOn: ['adapters/hosts/fetch.ts', "Object.hasOwn(Object.getPrototypeOf(request), 'constructor')"],
  real: (request) => request,
  broken: () => new Request('http://localhost'),
  holds: (standIn) =>
    requestOfHono(async (request) => {
      const hasOwn = (value: object) => Object.hasOwn(Object.getPrototypeOf(value), 'constructor');
      return !hasOwn(standIn(request)) && hasOwn(new Request('http://localhost'));
    }),
});

assume<(bytes: ArrayBuffer) => ArrayBuffer>({
  name: 'a body that comes straight from a server is no longer than declared: @hono/node-server',
  restsOn: ['adapters/hosts/fetch.ts', 'canReadWhole'],
  real: (bytes) => bytes,
  broken: () => new ArrayBuffer(10),
  holds: (standIn) => requestOfHono(async (request) => standIn(await request.arrayBuffer()).byteLength === 5),
});

/** The servers that a runtime brings. */
interface Served {
  readonly port: number;
  close(): unknown;
}
type Serve = (fetch: (request: Request, server: object) => Promise<Response>) => Served;
const { Bun, Deno } = globalThis as {
  Bun?: { serve(options: object): { port: number; stop(now: boolean): unknown } };
  Deno?: { serve(options: object, fetch: unknown): { addr: { port: number }; shutdown(): unknown } };
};
const serves: Record<string, readonly [mark: string, serve: Serve]> = {
  ...(Bun && {
    Bun: [
      'requestIP',
      (fetch: unknown) => {
        const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
        return { port: server.port, close: () => server.stop(true) };
      },
    ] as const,
  }),
  ...(Deno && {
    Deno: [
      'remoteAddr',
      (fetch: unknown) => {
        const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, fetch);
        return { port: server.addr.port, close: () => server.shutdown() };
      },
    ] as const,
  }),
};
for (const [runtime, [mark, serve]] of Object.entries(serves)) {
  assume<(bytes: ArrayBuffer) => ArrayBuffer>({
    name: `a body that comes straight from a server is no longer than declared, and the server is known by \`${mark}\`: ${runtime}`,
    restsOn: ['adapters/hosts/fetch.ts', `has(server, '${mark}')`],
    real: (bytes) => bytes,
    broken: () => new ArrayBuffer(10),
    async holds(standIn) {
      let holds = false;
      const server = serve(async (request, second) => {
        holds = mark in second && standIn(await request.arrayBuffer()).byteLength === 5;
        return new Response();
      });
      const wire = await Wire.open(server.port);
      await wire.write(`${raw(['Content-Length: 5'], '12345')}67890`);
      await wire.answer();
      wire.destroy();
      await server.close();
      return holds;
    },
  });
}

/** @hono/node-server, on the Node that the runtime is or brings. */
const honoOnNode = async (fetch: (request: Request) => Promise<Response>): Promise<Served> =>
  listen(createServer(getRequestListener(fetch, { overrideGlobalObjects: false })));
const own = Object.entries(serves).map(([runtime, [, serve]]) => [runtime, serve] as const);
const aborting = own.length > 0 ? own : [['@hono/node-server', honoOnNode] as const];

for (const [host, serve] of aborting) {
  const isDeno = 'Deno' in globalThis;
  assume<(signal: AbortSignal) => boolean>({
    name: `when a body breaks off because its client has disconnected, the signal ${isDeno ? 'has not aborted' : 'has aborted'}: ${host}`,
    restsOn: ['adapters/hosts/fetch.ts', "'Deno' in globalThis"],
    real: ({ aborted }) => aborted,
    broken: ({ aborted }) => !aborted,
    async holds(isAborted) {
      const { promise, resolve } = deferred<boolean>();
      const begun = deferred();
      const server = await serve(async (request) => {
        const { signal } = request;
        begun.resolve();
        await request.arrayBuffer().catch(() => {});
        resolve(isAborted(signal));
        return new Response();
      });
      const wire = await Wire.open(server.port);
      await wire.write(raw(['Content-Length: 5'], '123'));
      await begun.promise;
      wire.destroy();
      const holds = (await promise) === !isDeno;
      await server.close();
      return holds;
    },
  });
}

describe.each(assumptions.map((assumption) => [assumption.name, assumption] as const))(
  'assumption: %s',
  (_, { restsOn: [file, code], holds, real, broken }) => {
    test(`holds, for ${file}`, async () => expect(await holds(real)).toBe(true));

    test('is noticed if it does not', async () => expect(await holds(broken)).toBe(false));

    test('is one that the code still makes', () =>
      expect(readFileSync(join(root, file), 'utf8')).toContain(code));
  },
);
