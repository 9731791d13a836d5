/** Answers that cannot be sent, and wrappers of `handle` that fail: a 500 by the host, and never the end of the process. */
import { createServer, type ServerResponse } from 'node:http';
import express from 'express';
import express4 from 'express4';
import Fastify, { type FastifyReply } from 'fastify';
import { H3, toNodeHandler } from 'h3';
import { Hono } from 'hono';
import Koa from 'koa';
import Koa2 from 'koa2';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { listen, type Running, raw, Wire } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { json, rose, token } from '../node/server.js';

/** The errors that the host's error handler, or without one the console, got. */
const told: unknown[] = [];
const tell = (error: unknown) => void told.push(error);
afterEach(() => {
  told.length = 0;
});

type Before = (response: ServerResponse) => void;
type Start = (handle: PlantHandler, before: Before) => Promise<Running>;

const onExpress =
  (make: typeof express): Start =>
  (handle, before) => {
    const app = make().use((_request, response, next) => {
      before(response);
      next();
    });
    const onError: express.ErrorRequestHandler = (error, _request, response, _next) => {
      tell(error);
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      response.sendStatus(500);
    };
    return listen(createServer(app.use(toExpress(handle)).use(onError)));
  };

const onKoa =
  (Make: typeof Koa): Start =>
  (handle, before) => {
    const app = new Make().use((context, next) => {
      before(context.res);
      return next();
    });
    return listen(createServer(app.use(toKoa(handle)).on('error', tell).callback()));
  };

const onNodeHosts: readonly { name: string; start: Start }[] = [
  {
    name: 'node:http',
    start: (handle, before) => {
      vi.spyOn(console, 'error').mockImplementation(tell);
      onTestFinished(() => void vi.restoreAllMocks());
      const listener = toNode(handle);
      return listen(
        createServer((request, response) => {
          before(response);
          listener(request, response);
        }),
      );
    },
  },
  { name: 'Express 5', start: onExpress(express) },
  { name: 'Express 4', start: onExpress(express4 as unknown as typeof express) },
  { name: 'Koa 3', start: onKoa(Koa) },
  { name: 'Koa 2', start: onKoa(Koa2 as unknown as typeof Koa) },
  {
    name: 'Fastify 5',
    start: async (handle, before) => {
      const app = Fastify();
      app.addHook('onRequest', async (_request, { raw }) => before(raw));
      app.setErrorHandler((error, _request, reply) => {
        tell(error);
        for (const name of reply.raw.getHeaderNames()) reply.raw.removeHeader(name);
        return reply.code(500).send('failed');
      });
      app.register(toFastify(handle));
      await app.ready();
      return listen(app.server);
    },
  },
];

const fetchHosts: readonly { name: string; start: Start }[] = [
  {
    name: 'h3',
    start: (handle) => {
      const fetch = toFetch(handle);
      const app = new H3({ silent: true, onError: (error) => tell(error.cause) });
      app.post('/plants', (event) => fetch(event.req));
      return listen(createServer(toNodeHandler(app) as Parameters<typeof createServer>[1]));
    },
  },
  {
    name: 'Hono',
    start: async (handle) => {
      const { getRequestListener } = await import('@hono/node-server');
      const fetch = toFetch(handle);
      const app = new Hono().post('/plants', (context) => fetch(context.req.raw));
      app.onError((error, context) => {
        tell(error);
        return context.text('failed', 500);
      });
      return listen(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })));
    },
  },
];

async function wireTo(running: Running): Promise<Wire> {
  onTestFinished(running.close);
  const wire = await Wire.open(running.port);
  onTestFinished(() => wire.destroy());
  return wire;
}

async function statusOf(running: Running): Promise<number> {
  const wire = await wireTo(running);
  await wire.write(raw([token, json], rose));
  return (await wire.answer()).status;
}

describe.each(named(onNodeHosts))('on %s', (_, { start }) => {
  test('headers that do not go together, such as Trailer with a length, become a 500', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    const running = await start(handle, (response) => response.setHeader('Trailer', 'X-Checksum'));
    expect(await statusOf(running)).toBe(500);
    expect(told).toMatchObject([{ code: 'ERR_HTTP_TRAILER_INVALID' }]);
  });

  test.each([200, 404])(
    'a response that the app has sent meanwhile, as a timeout does, replaces the %i of plant-store',
    async (status) => {
      let response: ServerResponse | undefined;
      const handle: PlantHandler = async () => {
        response?.writeHead(503, { 'Content-Length': 8 }).end('too slow');
        return { status, headers: { 'content-type': 'application/json' }, body: '{}' };
      };
      const wire = await wireTo(
        await start(handle, (given) => {
          response = given;
        }),
      );
      for (let i = 0; i < 2; i++) {
        await wire.write(raw([token, json], rose));
        expect(await wire.answer()).toMatchObject({ status: 503, text: 'too slow' });
      }
      expect([wire.rest, told]).toEqual(['', []]);
    },
  );
});

test('toKoa leaves the context alone if the app has responded meanwhile', async () => {
  let response: ServerResponse | undefined;
  const handle: PlantHandler = async () => {
    response?.writeHead(503, { 'Content-Length': 8 }).end('too slow');
    return { status: 200, headers: {}, body: '{}' };
  };
  const app = new Koa();
  // A logger would count the bytes of a body that nobody gets.
  const logged = new Promise((resolve) => {
    app.use(async (context, next) => {
      response = context.res;
      await next();
      resolve(context.body);
    });
  });
  const wire = await wireTo(await listen(createServer(app.use(toKoa(handle)).callback())));
  await wire.write(raw([token, json], rose));
  expect((await wire.answer()).status).toBe(503);
  expect(await logged).toBeUndefined();
});

describe('toFastify sends nothing, and Fastify has nothing to warn about,', () => {
  const slow = { 'Content-Length': 8 };
  test.each<[string, during: (reply: FastifyReply) => void, after: (raw: ServerResponse) => void]>([
    ['if the app has responded', ({ raw }) => void raw.writeHead(503, slow).end('too slow'), () => {}],
    [
      'if the app has begun to respond',
      ({ raw }) => void raw.writeHead(503, slow).write('too '),
      (raw) => void raw.end('slow'),
    ],
    [
      'if the app has taken the response over',
      (reply) => void reply.hijack(),
      (raw) => void raw.writeHead(503, slow).end('too slow'),
    ],
  ])('%s', async (_when, during, after) => {
    const lines: string[] = [];
    const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => void lines.push(line) } } });
    let reply: FastifyReply | undefined;
    app.addHook('onRequest', async (_request, given) => {
      reply = given;
    });
    const handle: PlantHandler = async () => {
      during(reply!);
      setImmediate(() => setImmediate(() => after(reply!.raw)));
      return { status: 200, headers: {}, body: '{}' };
    };
    app.register(toFastify(handle));
    await app.ready();
    const wire = await wireTo(await listen(app.server));
    await wire.write(raw([token, json], rose));
    expect(await wire.answer()).toMatchObject({ status: 503, text: 'too slow' });
    expect(lines).toEqual([]);
  });
});

test('toNode sends no Content-Length with a 204 (RFC 9110 §8.6)', async () => {
  const { start } = onNodeHosts[0]!;
  const wire = await wireTo(
    await start(
      async () => ({ status: 204, headers: {}, body: '' }),
      () => {},
    ),
  );
  await wire.write(raw([token, json], rose));
  const { status, headers } = await wire.answer({ bodyless: true });
  expect([status, headers.get('content-length')]).toEqual([204, undefined]);
});

test('toNode leaves a response alone that the app has begun meanwhile', async () => {
  const { start } = onNodeHosts[0]!;
  let response: ServerResponse | undefined;
  const handle: PlantHandler = async () => {
    response?.writeHead(200, { 'Content-Length': 8 }).write('half');
    setImmediate(() => setImmediate(() => response?.end('half')));
    return { status: 200, headers: {}, body: '{}' };
  };
  const wire = await wireTo(
    await start(handle, (given) => {
      response = given;
    }),
  );
  await wire.write(raw([token, json], rose));
  expect(await wire.answer()).toMatchObject({ status: 200, text: 'halfhalf' });
  expect(told).toEqual([]);
});

test('toNode cuts the connection if a wrapper of `handle` fails in the midst of a response', async () => {
  const { start } = onNodeHosts[0]!;
  const error = new Error('of the wrapper');
  let response: ServerResponse | undefined;
  const handle: PlantHandler = async () => {
    await new Promise((written) => response?.writeHead(200, { 'Content-Length': 8 }).write('half', written));
    throw error;
  };
  const wire = await wireTo(
    await start(handle, (given) => {
      response = given;
    }),
  );
  await wire.write(raw([token, json], rose));
  await wire.closed;
  expect(wire.rest).toMatch(/^HTTP\/1\.1 200 OK.*\r\n\r\nhalf$/s);
  expect(told).toEqual([error]);
});

describe.each(named([...onNodeHosts, ...fetchHosts]))('on %s', (_, { start }) => {
  const error = new Error('of the wrapper');
  test.each<[string, PlantHandler]>([
    ['rejects', async () => Promise.reject(error)],
    [
      'throws',
      () => {
        throw error;
      },
    ],
  ])('a wrapper of handle that %s causes a 500, and the host gets the error', async (_how, handle) => {
    expect(await statusOf(await start(handle, () => {}))).toBe(500);
    expect(told).toEqual([error]);
  });
});
