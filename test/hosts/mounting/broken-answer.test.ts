/** Answers that cannot be sent, and wrappers of `handle` that fail: a 500 by the host, and never the end of the process. */
import type { ServerResponse } from 'node:http';
import Fastify, { type FastifyReply } from 'fastify';
import Koa from 'koa';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { listen, mountOf, type Running, raw, Wire } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { appHosts, hostNamed, onKoa } from '../hosts.js';
import { json, rose, token } from '../node/server.js';

/** What the console gets: no text of the error. */
const inOneLine = expect.stringMatching(/^plant-store: 50000 internal_error: Error\. Its text/);

/** The errors that the host's error handler, or without one the console, got. */
const told: unknown[] = [];
const onError = (error: unknown) => void told.push(error);
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(onError));
afterEach(() => {
  vi.restoreAllMocks();
  told.length = 0;
});

/** A handler that lets the app respond first. */
const slow = (during: (response: ServerResponse) => unknown, status = 200) => {
  let response!: ServerResponse;
  const handle: PlantHandler = async () => {
    await during(response);
    return { status, headers: { 'content-type': 'application/json' }, body: '{}' };
  };
  const before = (_request: unknown, given: ServerResponse, next: () => unknown) => {
    response = given;
    next();
  };
  return [handle, { before, onError }] as const;
};

const turns = (then: () => unknown) => setImmediate(() => setImmediate(then));
const head = { 'Content-Length': 8 };
const respond = (response: ServerResponse) => void response.writeHead(503, head).end('too slow');
const begin = (response: ServerResponse) => {
  response.writeHead(503, head).write('too ');
  turns(() => response.end('slow'));
};

/** Sends a create to a mount at `/plants`, or under the path of the host. */
async function wireTo(running: Running): Promise<Wire> {
  onTestFinished(running.close);
  const wire = await Wire.open(running.port);
  onTestFinished(() => wire.destroy());
  const line = `POST ${mountOf(running.url)}/plants HTTP/1.1`;
  await wire.write(raw([token, json], rose, { line }));
  return wire;
}

const nodeHttp = hostNamed('node:http');
const nodeHosts = [nodeHttp, ...appHosts];

describe.each(named(nodeHosts))('on %s', (host, { start }) => {
  test('headers that do not go together, such as Trailer with a length, become a 500', async () => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    const before = (_request: unknown, response: ServerResponse, next: () => unknown) => {
      response.setHeader('Trailer', 'X-Checksum');
      next();
    };
    const wire = await wireTo(await start(handle, { before, onError }));
    expect((await wire.answer()).status).toBe(500);
    const codes = told.map((error) => (error as { code?: string }).code ?? error);
    expect(codes).toEqual([expect.stringContaining('ERR_HTTP_TRAILER_INVALID')]);
  });

  const begun = [['begun', begin, 200]] as const;
  test.each([
    ['sent', respond, 200],
    ['sent', respond, 404],
    // Koa itself ends a response that the app has begun.
    ...(host.startsWith('Koa') ? [] : begun),
  ] as const)(
    'a response that the app has %s meanwhile, as a timeout does, replaces the response of plant-store',
    async (_how, during, status) => {
      const wire = await wireTo(await start(...slow(during, status)));
      expect(await wire.answer()).toMatchObject({ status: 503, text: 'too slow' });
      await wire.write(raw([token, json], rose));
      expect(await wire.answer()).toMatchObject({ status: 503, text: 'too slow' });
      expect([wire.rest, told]).toEqual(['', []]);
    },
  );
});

const fetchHosts = [hostNamed('h3, by route'), hostNamed('Hono, by route')];

describe.each(named([...nodeHosts, ...fetchHosts]))('on %s', (_, { start }) => {
  const error = new Error('of the wrapper');
  const throws = () => {
    throw error;
  };
  test.each<[string, PlantHandler]>([
    ['rejects', async () => throws()],
    ['throws', throws],
  ])('a wrapper of handle that %s causes a 500, and the host gets the error', async (_how, handle) => {
    const wire = await wireTo(await start(handle, { onError }));
    expect((await wire.answer()).status).toBe(500);
    expect(told).toEqual([typeof told[0] === 'string' ? inOneLine : error]);
  });
});

test('toNode closes the connection of a response whose headers cannot be set at all', async () => {
  const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
  const before = (_request: unknown, response: ServerResponse, next: () => unknown) => {
    response.setHeader = () => {
      throw new Error('of a patch');
    };
    next();
  };
  const wire = await wireTo(await nodeHttp.start(handle, { before, onError }));
  await wire.closed;
  expect([wire.rest, told]).toEqual(['', [inOneLine]]);
});

test('toKoa leaves the context alone if the app has responded meanwhile', async () => {
  // A logger would count the bytes of a body that nobody gets.
  const logged = deferred<unknown>();
  const start = onKoa(Koa, (plants) => [
    async (context, next) => {
      await next();
      logged.resolve(context.body);
    },
    plants,
  ]);
  const wire = await wireTo(await start(...slow(respond)));
  expect((await wire.answer()).status).toBe(503);
  expect(await logged.promise).toBeUndefined();
});

test.each<[string, during: (reply: FastifyReply) => void]>([
  ['responded', ({ raw }) => respond(raw)],
  ['begun to respond', ({ raw }) => begin(raw)],
  [
    'taken the response over',
    (reply) => {
      reply.hijack();
      turns(() => respond(reply.raw));
    },
  ],
])('Fastify has nothing to warn about if the app has %s', async (_when, during) => {
  const lines: string[] = [];
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => void lines.push(line) } } });
  let reply: FastifyReply | undefined;
  app.addHook('onRequest', async (_request, given) => {
    reply = given;
  });
  app.register(
    toFastify(async () => {
      during(reply!);
      return { status: 200, headers: {}, body: '{}' };
    }),
  );
  await app.ready();
  const wire = await wireTo(await listen(app.server));
  expect(await wire.answer()).toMatchObject({ status: 503, text: 'too slow' });
  expect(lines).toEqual([]);
});

test('toNode cuts the connection if a wrapper of `handle` fails in the midst of a response', async () => {
  const error = new Error('of the wrapper');
  const during = async (response: ServerResponse) => {
    await new Promise((written) => response.writeHead(200, head).write('half', written));
    throw error;
  };
  const wire = await wireTo(await nodeHttp.start(...slow(during)));
  await wire.closed;
  expect(wire.rest).toMatch(/^HTTP\/1\.1 200 OK.*\r\n\r\nhalf$/s);
  expect(told).toEqual([inOneLine]);
});
