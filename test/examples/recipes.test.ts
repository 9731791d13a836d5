// The recipes around the handler: each in this process, over a real socket.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { H3 } from 'h3';
import Database from 'libsql';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveNext } from '../hosts/next.js';
import { type Program, startExample } from '../support/program.js';
import { raw, Wire } from '../support/sockets.js';

const servers: Server[] = [];
const printed = vi.fn();

beforeAll(() => {
  Object.assign(process.env, { PORT: '0', LIMIT: '2' });
  vi.spyOn(console, 'log').mockImplementation(printed);
});
afterEach(() => printed.mockClear());
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** Where an example listens. */
async function urlOf(example: Promise<{ server: Server }>): Promise<string> {
  const { server } = await example;
  if (!server.listening) await once(server, 'listening');
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Create {
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

function create(
  url: string,
  plant: string,
  { token = 'secret', headers = {} }: Create = {},
): Promise<Response> {
  return fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: plant,
  });
}

async function answerOf(answering: Promise<Response>): Promise<[status: number, body: unknown]> {
  const response = await answering;
  return [response.status, await response.json()];
}

describe('a host of its own kind creates plants, exact ones', () => {
  it.each([
    ['hapi', () => import('../../examples/hapi.js')],
    ['nest-fastify', () => import('../../examples/nest-fastify.js')],
  ])('%s', async (_name, load) => {
    const url = `${await urlOf(load())}/api`;
    expect(await answerOf(create(url, '{"id":9007199254740993,"name":"Rosa"}'))).toEqual([
      200,
      { name: 'Rosa' },
    ]);
    expect(await answerOf(create(url, '{"id":9007199254740992,"name":"Ilex"}'))).toEqual([
      200,
      { name: 'Ilex' },
    ]);
    expect(await answerOf(create(url, '{"id":9007199254740992,"name":"Ilex"}'))).toMatchObject([
      400,
      { error: 40003 },
    ]);
    expect(await answerOf(create(url, '{"id":2,"name":"Ilex"}', { token: 'wrong' }))).toMatchObject([
      401,
      { error: 40102 },
    ]);
    // What the framework would have answered by itself, had it parsed.
    expect(await answerOf(create(url, '{'))).toMatchObject([400, { error: 40001 }]);
    const text = { headers: { 'content-type': 'text/plain' } };
    expect(await answerOf(create(url, '{}', text))).toMatchObject([400, { error: 40005 }]);
    // The framework still answers what is not ours.
    expect((await fetch(`${url}/trees`)).status).toBe(404);
  });
});

describe('Lambda', () => {
  const body = (id: number) => `{"id":${id},"name":"Rosa canina"}`;
  const headers = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };
  const multiValueHeaders = { Authorization: ['Bearer secret'], 'Content-Type': ['application/json'] };
  const lowerCase = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const http = { method: 'POST' };
  // As AWS documents them: version 1.0 of a REST API, 2.0 of an HTTP API and of a function URL.
  const events = {
    'a REST API': { httpMethod: 'POST', path: '/plants', headers, multiValueHeaders, body: body(1) },
    'an HTTP API': {
      rawPath: '/plants',
      requestContext: { http, stage: '$default' },
      headers: lowerCase,
      body: body(2),
    },
    'an HTTP API with a stage': {
      rawPath: '/prod/plants',
      requestContext: { http, stage: 'prod' },
      headers: lowerCase,
      body: body(3),
    },
    'a function URL, its body in base64': {
      rawPath: '/plants',
      requestContext: { http, stage: '$default' },
      headers: lowerCase,
      body: Buffer.from(body(4)).toString('base64'),
      isBase64Encoded: true,
    },
  };

  it.each(Object.entries(events))(
    'creates a plant behind %s, and refuses its id again',
    async (_name, event) => {
      const { handler } = await import('../../examples/lambda.js');
      expect(await handler(event)).toEqual({
        statusCode: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"name":"Rosa canina"}',
      });
      expect(await handler(event)).toMatchObject({ statusCode: 400, body: expect.stringContaining('40003') });
    },
  );

  it.each([
    ['a wrong token', { headers: { ...lowerCase, authorization: 'Bearer wrong' } }, 40102],
    ['no headers', { headers: null }, 40101],
    [
      'two Authorization headers, of which `headers` keeps one',
      { multiValueHeaders: { ...multiValueHeaders, Authorization: ['Bearer secret', 'Bearer other'] } },
      40102,
    ],
    ['no body', { body: null }, 40001],
    ['a body in base64 that is no UTF-8', { body: '/w==', isBase64Encoded: true }, 40001],
    ['another path', { path: '/trees' }, 40401],
    ['another method', { httpMethod: 'GET' }, 40501],
  ])('refuses %s', async (_title, change, error) => {
    const { handler } = await import('../../examples/lambda.js');
    const event = { httpMethod: 'POST', path: '/plants', headers: lowerCase, body: body(5) };
    const answer = await handler({ ...event, ...change });
    expect(JSON.parse(answer.body)).toMatchObject({ error });
    expect(answer.statusCode).toBe(Math.trunc(error / 100));
  });
});

describe('request-log', () => {
  const lines = () =>
    printed.mock.calls
      .map(([line]) => (typeof line === 'string' ? JSON.parse(line) : undefined))
      .filter(Boolean);

  it('logs each answer with the id that the client sent, or one of its own', async () => {
    const url = await urlOf(import('../../examples/request-log.js'));
    const created = await create(url, '{"id":1,"name":"Rosa"}', {
      headers: { 'x-request-id': 'from-the-proxy' },
    });
    expect(created.headers.get('x-request-id')).toBe('from-the-proxy');
    const refused = await create(url, '{"id":2,"name":"Rosa"}', {
      token: 'wrong',
      headers: { 'x-request-id': 'a "forged" id' },
    });
    const own = refused.headers.get('x-request-id');
    expect(own).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines()).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        requestId: 'from-the-proxy',
        method: 'POST',
        status: 200,
        ms: expect.any(Number),
      },
      {
        time: expect.any(String),
        level: 'info',
        requestId: own,
        method: 'POST',
        status: 401,
        error: 40102,
        ms: expect.any(Number),
      },
    ]);
  });

  it('logs a request without a body too', async () => {
    const url = await urlOf(import('../../examples/request-log.js'));
    expect((await fetch(`${url}/plants`, { method: 'HEAD' })).status).toBe(405);
    expect(lines()).toMatchObject([{ method: 'HEAD', status: 405 }]);
  });
});

describe('metrics', () => {
  it('counts answers by error number, and not what the app answers', async () => {
    const url = await urlOf(import('../../examples/metrics.js'));
    await create(`${url}/api`, '{"id":1,"name":"Rosa"}');
    await create(`${url}/api`, '{"id":1,"name":"Rosa"}');
    await create(`${url}/api`, '{"id":2,"name":"Rosa"}', { token: 'wrong' });
    await create(`${url}/api`, '{"id":2,"name":"Rosa"}');
    expect((await fetch(`${url}/api/plants`)).status).toBe(404);
    expect((await fetch(`${url}/api/plants`, { method: 'HEAD' })).status).toBe(404);
    const text = await (await fetch(`${url}/metrics`)).text();
    const counts = [...text.matchAll(/^plant_store_answer_seconds_count\{error="(\d+)"\} (\d+)$/gm)];
    expect(Object.fromEntries(counts.map(([, error, count]) => [error, count]))).toEqual({
      0: '2',
      40003: '1',
      40102: '1',
    });
  });
});

describe('tracing', () => {
  const spans = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    );
  });
  afterAll(() => {
    trace.disable();
    context.disable();
  });

  it('makes a span for a request, with one for its storage inside', async () => {
    const url = await urlOf(import('../../examples/tracing.js'));
    await create(url, '{"id":1,"name":"Rosa"}');
    await create(url, '{"id":1,"name":"Rosa"}', { token: 'wrong' });
    const [storing, request, refused] = spans.getFinishedSpans();
    expect([storing?.name, request?.name, refused?.name]).toEqual([
      'storage.create',
      'POST /plants',
      'POST /plants',
    ]);
    expect(storing?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(request?.attributes).toEqual({ 'http.response.status_code': 200 });
    expect(refused?.attributes).toEqual({ 'http.response.status_code': 401 });
    expect(spans.getFinishedSpans()).toHaveLength(3);
  });
});

describe('rate-limit', () => {
  it('answers an Error and Retry-After beyond the limit, and does not limit the rest of the app', async () => {
    const url = `${await urlOf(import('../../examples/rate-limit.js'))}/api`;
    expect((await create(url, '{"id":1,"name":"Rosa"}')).status).toBe(200);
    expect((await create(url, '{"id":2,"name":"Rosa"}', { token: 'wrong' })).status).toBe(401);
    const limited = await create(url, '{"id":3,"name":"Rosa"}');
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
    expect([limited.status, await limited.json()]).toEqual([
      429,
      { error: 42900, message: 'Too many requests.' },
    ]);
    expect((await fetch(`${url}/plants`)).status).toBe(404);
  });
});

describe('passport', () => {
  it('hands its user to the storage', async () => {
    const url = `${await urlOf(import('../../examples/passport.js'))}/api`;
    expect(await answerOf(create(url, '{"id":1,"name":"Rosa"}'))).toEqual([200, { name: 'Rosa' }]);
    expect(printed).toHaveBeenCalledWith('alice creates plant 1');
  });

  it("lets the library answer a token that it turns down, and a strategy's error", async () => {
    const url = `${await urlOf(import('../../examples/passport.js'))}/api`;
    const refused = await create(url, '{"id":2,"name":"Rosa"}', { token: 'wrong' });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="plants", error="invalid_token"');
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 40102 }]);
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    // No token68, so no strategy is asked.
    expect(await answerOf(create(url, '{"id":2,"name":"Rosa"}', { token: 'two words' }))).toMatchObject([
      401,
      { error: 40102 },
    ]);
    expect(told).not.toHaveBeenCalled();
    expect(await answerOf(create(url, '{"id":2,"name":"Rosa"}', { token: 'outage' }))).toMatchObject([
      500,
      { error: 50002 },
    ]);
    expect(told).toHaveBeenCalledOnce();
    told.mockRestore();
  });
});

describe('a file of a framework, called as the framework calls it, creates plants', () => {
  const post = (url: string, plant: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return new Request(url, { method: 'POST', headers, body: plant });
  };
  it.each<[string, () => Promise<(request: Request) => unknown>]>([
    [
      'next-route',
      async () => {
        const { POST } = await import('../../examples/next-route.js');
        return (request) => POST(request, { params: Promise.resolve({}) });
      },
    ],
    [
      'sveltekit',
      async () => {
        const { POST } = await import('../../examples/sveltekit.js');
        return (request) => POST({ request });
      },
    ],
    [
      'react-router',
      async () => {
        const { action } = await import('../../examples/react-router.js');
        return (request) => action({ request });
      },
    ],
    [
      'nitro',
      async () => {
        const { default: handler } = await import('../../examples/nitro.js');
        return new H3().post('/api/plants', handler).fetch;
      },
    ],
  ])('%s', async (_name, load) => {
    const answer = await load();
    const create = (plant: string, token = 'secret') =>
      answerOf(
        Promise.resolve(answer(post('http://localhost/api/plants', plant, token)) as Promise<Response>),
      );
    expect(await create('{"id":9007199254740993,"name":"Rosa"}')).toEqual([200, { name: 'Rosa' }]);
    expect(await create('{"id":9007199254740992,"name":"Ilex"}')).toEqual([200, { name: 'Ilex' }]);
    expect(await create('{"id":9007199254740993,"name":"Rosa"}')).toMatchObject([400, { error: 40003 }]);
    expect(await create('{"id":1,"name":"Rosa"}', 'wrong')).toMatchObject([401, { error: 40102 }]);
  });

  it('next-pages', async () => {
    const { default: handler, config } = await import('../../examples/next-pages.js');
    const server = createServer(serveNext({ page: { default: handler, config } })).listen(0);
    const url = `${await urlOf(Promise.resolve({ server }))}/api`;
    expect(await answerOf(create(url, '{"id":9007199254740993,"name":"Rosa"}'))).toEqual([
      200,
      { name: 'Rosa' },
    ]);
    expect(await answerOf(create(url, '{"id":9007199254740992,"name":"Ilex"}'))).toEqual([
      200,
      { name: 'Ilex' },
    ]);
    expect(await answerOf(create(url, '{"id":1,"name":"Ilex"}', { token: 'wrong' }))).toMatchObject([
      401,
      { error: 40102 },
    ]);
  });
});

describe('a program of its own', () => {
  const programs: Program[] = [];
  const start = (name: string, env: Record<string, string> = {}) => {
    const program = startExample(name, env);
    programs.push(program);
    return program;
  };
  afterEach(() => {
    for (const { child } of programs.splice(0)) child.kill('SIGKILL');
  });

  it('testing passes its tests', async () => {
    const program = start('testing');
    expect(await program.exit).toBe(0);
    expect(program.output()).toMatch(/^# pass 3$/m);
  });

  it('openapi-fetch sends ids beyond 2^53 digit by digit, and is told by number why it was refused', async () => {
    const plants = new Map<bigint, NewPlant>();
    const handle = createPlantStore(memoryStorage(plants), acceptTokens('for-evaluation-only'));
    const url = await urlOf(Promise.resolve({ server: createServer(toNode(handle)).listen(0) }));
    const first = start('openapi-fetch', { URL: url });
    expect(await first.exit).toBe(0);
    expect(first.output()).toBe("{ name: 'Rosa canina', tag: 'shrub' }\n".repeat(2));
    expect([...plants.keys()]).toEqual([9007199254740992n, 9007199254740993n]);
    const again = start('openapi-fetch', { URL: url });
    expect(await again.exit).toBe(0);
    expect(again.output().match(/error: 40003/g)).toHaveLength(2);
  });

  it('shutdown answers what is under way and what still comes, keeps it, and ends', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plants-shutdown-'));
    const DATABASE = join(folder, 'plants.db');
    const program = start('shutdown', { DATABASE, DRAIN_MS: '1500' });
    const port = Number((await program.printed(/port: (\d+)/))[1]);
    const url = `http://127.0.0.1:${port}`;
    const statusOf = async (path: string) => (await fetch(url + path)).status;
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);

    const underWay = await Wire.open(port);
    const plant = '{"id":1,"name":"Rosa"}';
    const head = [
      'Authorization: Bearer secret',
      'Content-Type: application/json',
      `Content-Length: ${plant.length}`,
    ];
    await underWay.write(raw(head, plant.slice(0, 9)));
    // Answered after the half plant above has arrived, as both share the one thread of the server.
    expect((await create(url, '{"id":2,"name":"Ilex"}', { token: 'wrong' })).status).toBe(401);

    program.child.kill('SIGTERM');
    while ((await statusOf('/readyz')) === 200);
    expect(await statusOf('/healthz')).toBe(200);
    expect((await create(url, '{"id":2,"name":"Ilex"}')).status).toBe(200);
    // After the drain no new connection is taken, and the one under way is still answered.
    while (
      await fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
        () => true,
        () => false,
      )
    );
    await underWay.write(plant.slice(9));
    expect((await underWay.answer()).status).toBe(200);
    expect(await program.exit).toBe(0);

    const database = new Database(DATABASE);
    expect(database.prepare('SELECT id, name FROM plants ORDER BY id').all()).toEqual([
      { id: 1, name: 'Rosa' },
      { id: 2, name: 'Ilex' },
    ]);
    database.close();
    rmSync(folder, { recursive: true });
  });
});
