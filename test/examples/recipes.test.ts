// The recipes around the handler: each in this process, over a real socket.
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { H3 } from 'h3';
import Database from 'libsql';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { createPlantClient } from 'plant-store/client';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPlant, expectExactPlants } from '../support/plants.js';
import { portOf, runExample } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';
import { listen, raw, Wire } from '../support/sockets.js';
import { exampleUrl, rosa, runExamplesHere } from './recipe.js';

const printed = runExamplesHere({ LIMIT: '2' });
afterEach(() => vi.clearAllMocks());

const good = { authorization: 'Bearer secret', 'content-type': 'application/json' };

describe('Lambda', () => {
  const headers = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };
  const multiValueHeaders = { Authorization: ['Bearer secret'], 'Content-Type': ['application/json'] };
  const behind = (rawPath: string, stage: string, body: string) => ({
    rawPath,
    requestContext: { http: { method: 'POST' }, stage },
    headers: good,
    body,
  });
  // As AWS documents them: version 1.0 of a REST API, 2.0 of an HTTP API and of a function URL.
  const events = {
    'a REST API': { httpMethod: 'POST', path: '/plants', headers, multiValueHeaders, body: rosa(1) },
    'an HTTP API': behind('/plants', '$default', rosa(2)),
    'an HTTP API with a stage': behind('/prod/plants', 'prod', rosa(3)),
    'a function URL, its body in base64': {
      ...behind('/plants', '$default', Buffer.from(rosa(4)).toString('base64')),
      isBase64Encoded: true,
    },
  };

  it.each(Object.entries(events))(
    'creates a plant behind %s, and rejects its id after that',
    async (_name, event) => {
      const { handler } = await import('../../examples/hosts/lambda.js');
      expect(await handler(event)).toEqual({
        statusCode: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"name":"Rosa canina"}',
      });
      expect(await handler(event)).toMatchObject({ statusCode: 400, body: expect.stringContaining('40003') });
    },
  );

  it.each([
    ['the stage of its own name, later in the path', '/api/prod/plants', 'prod', 40401],
    ['its stage', '/prod/plants', 'prod', 40001],
    ['no stage', '/plants', '$default', 40001],
  ])('removes its stage from the front of the path alone, as for %s', async (_title, path, stage, error) => {
    const { handler } = await import('../../examples/hosts/lambda.js');
    expect(JSON.parse((await handler(behind(path, stage, ''))).body)).toMatchObject({ error });
  });

  it.each([
    ['a wrong token', { headers: { ...good, authorization: 'Bearer wrong' } }, 40102],
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
  ])('rejects a request with %s', async (_title, change, error) => {
    const { handler } = await import('../../examples/hosts/lambda.js');
    const event = { httpMethod: 'POST', path: '/plants', headers: good, body: rosa(5) };
    const answer = await handler({ ...event, ...change });
    expect(JSON.parse(answer.body)).toMatchObject({ error });
    expect(answer.statusCode).toBe(Math.trunc(error / 100));
  });
});

describe('request-log', () => {
  const lines = () =>
    printed.log.mock.calls.flatMap(([line]) => (typeof line === 'string' ? JSON.parse(line) : []));
  const always = { time: expect.any(String), level: 'info', ms: expect.any(Number) };

  it('logs each response with the id that the client sent, or a new one', async () => {
    const url = `${await exampleUrl(import('../../examples/around/request-log.js'))}/plants`;
    const post = (headers: Record<string, string>) => fetch(url, { method: 'POST', headers, body: rosa(1) });
    const created = await post({ ...good, 'x-request-id': 'from-the-proxy' });
    expect(created.headers.get('x-request-id')).toBe('from-the-proxy');
    const refused = await post({ 'x-request-id': 'a "forged" id' });
    const requestId = refused.headers.get('x-request-id');
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    // One without a body.
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(405);
    expect(lines()).toEqual([
      { ...always, requestId: 'from-the-proxy', method: 'POST', status: 200 },
      { ...always, requestId, method: 'POST', status: 401, error: 40101 },
      { ...always, requestId: expect.any(String), method: 'HEAD', status: 405, error: 40501 },
    ]);
  });

  it('logs the cause of a 5xx under the id of its request', async () => {
    const example = await import('../../examples/around/request-log.js');
    vi.spyOn(example.storage, 'create').mockRejectedValueOnce(new Error('disk full'));
    const url = `${await exampleUrl(example)}/plants`;
    const failed = await fetch(url, { method: 'POST', headers: good, body: rosa(3) });
    const requestId = failed.headers.get('x-request-id');
    expect(await failed.text()).not.toContain('disk full');
    const cause = expect.stringMatching(/^the storage threw Error\. Its text .* left out/);
    expect(lines()).toEqual([
      { time: expect.any(String), level: 'error', requestId, error: 50001, cause },
      { ...always, requestId, method: 'POST', status: 500, error: 50001 },
    ]);
  });
});

describe('form', () => {
  const post = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const url = await exampleUrl(import('../../examples/around/form.js') as Promise<{ server: Server }>);
    const body = new URLSearchParams(fields);
    const response = await fetch(`${url}/plants/new`, {
      method: 'POST',
      headers: { origin: url, cookie: 'session=session-of-rosa', ...headers },
      body,
    });
    const text = await response.text();
    const [, sentence = ''] = /<p role="status">(.*)<\/p>/.exec(text) ?? [];
    const errors = [...text.matchAll(/<span id="(\w+)-error">(.+)<\/span>/g)].map(([, field, error]) => [
      field,
      error,
    ]);
    return { status: response.status, sentence, errors, text };
  };

  it('creates the plant of a form for the session of a cookie, its id exact', async () => {
    const rosa = { id: '9007199254740993', name: 'Rosa "canina"', tag: '' };
    expect(await post(rosa)).toMatchObject({ sentence: 'Plant 9007199254740993 created.', errors: [] });
    const other = await post({ ...rosa, id: '9007199254740992' });
    expect(other).toMatchObject({ status: 200, sentence: 'Plant 9007199254740992 created.' });
    const taken = await post(rosa);
    expect(taken.errors).toEqual([['id', 'A plant with id 9007199254740993 exists. Choose another id.']]);
    for (const value of ['9007199254740993', 'Rosa &quot;canina&quot;'])
      expect(taken.text).toContain(`value="${value}"`);
  });

  it('keeps the fields beside a sentence for an invalid one, a missing and an expired session', async () => {
    const { errors, text } = await post({ id: 'twelve', name: 'Rosa\0' });
    expect(errors).toEqual([
      ['id', 'Enter an integer from -9223372036854775808 to 9223372036854775807.'],
      ['name', 'The name has a character that cannot be stored.'],
    ]);
    expect(text).toContain('value="twelve"');
    const stranger = await post({ id: '1', name: 'Rosa' }, { cookie: 'a=b' });
    expect(stranger).toMatchObject({ sentence: 'Sign in first.', errors: [] });
    const expired = await post({ id: '1', name: 'Rosa' }, { cookie: 'session=old' });
    expect(expired).toMatchObject({ sentence: 'The bearer token is invalid or expired. Get a new one.' });
  });

  it('rejects a form that another site sends with the cookie', async () => {
    expect(await post({ id: '1', name: 'Rosa' }, { origin: 'https://evil.example' })).toMatchObject({
      status: 403,
      sentence: '',
    });
  });
});

describe('problem-details', () => {
  it('sends an error as application/problem+json, which the client reads as before', async () => {
    const url = await exampleUrl(import('../../examples/around/problem-details.js'));
    await createPlant(url, rosa(1));
    const response = await fetch(`${url}/plants`, { method: 'POST', headers: good, body: rosa(1) });
    const type = response.headers.get('content-type');
    expect([response.status, type]).toEqual([400, 'application/problem+json']);
    const message = 'A plant with id 1 exists. Choose another id.';
    expect(await response.json()).toEqual({
      type: 'https://example.com/errors#40003',
      status: 400,
      detail: message,
      error: 40003,
      message,
    });
    const client = createPlantClient(url, { token: 'secret' });
    await expect(client.create({ id: 1n, name: 'Ilex' })).rejects.toMatchObject({ problem: 'id_taken' });
    expect((await fetch(`${url}/plants`, { method: 'HEAD' })).status).toBe(405);
  });
});

describe('rate-limit', () => {
  it('sends an Error and Retry-After beyond the limit, and does not limit the other routes of the app', async () => {
    const mount = `${await exampleUrl(import('../../examples/around/rate-limit.js'))}/api`;
    expect((await createPlant(mount, rosa(1))).status).toBe(200);
    expect((await createPlant(mount, rosa(2), 'wrong')).status).toBe(401);
    const { status, headers, body } = await createPlant(mount, rosa(3));
    expect([status, body]).toEqual([429, { error: 42900, message: 'Too many requests.' }]);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await fetch(`${mount}/plants`)).status).toBe(404);
  });
});

describe('plants are created by a file of a framework, called as the framework calls it:', () => {
  const load = {
    'next-route': async () => {
      const { POST } = await import('../../examples/hosts/next-route.js');
      return (request: Request) => POST(request, { params: Promise.resolve({}) });
    },
    sveltekit: async () => {
      const { POST } = await import('../../examples/hosts/sveltekit.js');
      return (request: Request) => POST({ request });
    },
    'react-router': async () => {
      const { action } = await import('../../examples/hosts/react-router.js');
      return (request: Request) => action({ request });
    },
    nitro: async () => {
      const { default: handler } = await import('../../examples/hosts/nitro.js');
      return new H3().post('/api/plants', handler).fetch;
    },
  };
  it.each(Object.entries(load))('%s', async (_name, load) => {
    const answer = await load();
    const post = async (body: string, authorization = good.authorization) => {
      const headers = { ...good, authorization };
      const request = new Request('http://localhost/api/plants', { method: 'POST', headers, body });
      const response = (await answer(request)) as Response;
      return [response.status, await response.json()];
    };
    expect(await post('{"id":9007199254740993,"name":"Rosa"}')).toEqual([200, { name: 'Rosa' }]);
    expect(await post('{"id":9007199254740992,"name":"Ilex"}')).toEqual([200, { name: 'Ilex' }]);
    expect(await post('{"id":9007199254740993,"name":"Rosa"}')).toMatchObject([400, { error: 40003 }]);
    expect(await post(rosa(1), 'Bearer wrong')).toMatchObject([401, { error: 40102 }]);
  });

  it('next-pages', async () => {
    const { default: handler, config } = await import('../../examples/hosts/next-pages.js');
    // With Next's parser, its ids would be those behind express.json() in body-matrix.test.ts.
    expect(config).toEqual({ api: { bodyParser: false, externalResolver: true } });
    const { url, close } = await listen(createServer(handler));
    onTestFinished(close);
    await expectExactPlants(`${url}/api`);
    const wrong = await createPlant(`${url}/api`, rosa(1), 'wrong');
    expect(wrong).toMatchObject({ status: 401, body: { error: 40102 } });
  });
});

describe('the program', () => {
  it('testing passes its tests', async () => {
    const program = runExample('testing');
    expect(await program.exit).toBe(0);
    expect(program.output()).toMatch(/^# pass 3$/m);
  });

  const taken = (id: string) => `id_taken no A plant with id ${id} exists. Choose another id.\n`;
  it.each([
    ['fetch', /(error: 40003[\s\S]*){2}/],
    ['openapi-fetch', /(error: 40003[\s\S]*){2}/],
    ['client', new RegExp(`^${taken('9007199254740992')}${taken('9007199254740993')}$`)],
  ])('%s sends ids beyond 2^53 digit by digit, and prints why it cannot again', async (name, again) => {
    const plants = new Map<bigint, NewPlant>();
    const handle = createPlantStore(memoryStorage(plants), acceptTokens('for-evaluation-only'));
    const { url, close } = await listen(createServer(toNode(handle)));
    onTestFinished(close);
    const first = runExample(name, { URL: url });
    expect(await first.exit).toBe(0);
    expect(first.output()).toBe("{ name: 'Rosa canina', tag: 'shrub' }\n".repeat(2));
    expect([...plants.keys()]).toEqual([9007199254740992n, 9007199254740993n]);
    const second = runExample(name, { URL: url });
    expect(await second.exit).toBe(0);
    expect(second.output()).toMatch(again);
  });

  it('shutdown responds to the requests in flight and those that still arrive, stores their plants, and exits', async () => {
    const DATABASE = join(newFolder(), 'plants.db');
    const program = runExample('shutdown', { DATABASE, DRAIN_MS: '1500' });
    const port = await portOf(program);
    const url = `http://127.0.0.1:${port}`;
    const statusOf = async (path: string) => (await fetch(url + path)).status;
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);

    const underWay = await Wire.open(port);
    const plant = rosa(1);
    const head = [
      'Authorization: Bearer secret',
      'Content-Type: application/json',
      `Content-Length: ${plant.length}`,
    ];
    await underWay.write(raw(head, plant.slice(0, 9)));
    // Answered after the half plant above has arrived, as both share the one thread of the server.
    expect((await createPlant(url, rosa(2), 'wrong')).status).toBe(401);

    program.child.kill('SIGTERM');
    while ((await statusOf('/readyz')) === 200);
    expect(await statusOf('/healthz')).toBe(200);
    const arrived = await createPlant(url, rosa(2));
    // So that no client sends a request on a connection that is about to be closed.
    expect([arrived.status, arrived.headers.get('connection')]).toEqual([200, 'close']);
    // After the drain no new connection is taken, and the one under way is still answered.
    const isOpen = () => fetch(`${url}/healthz`, { headers: { connection: 'close' } }).catch(() => false);
    while (await isOpen());
    await underWay.write(plant.slice(9));
    expect((await underWay.answer()).status).toBe(200);
    expect(await program.exit).toBe(0);

    const database = new Database(DATABASE);
    expect(database.prepare('SELECT id, name FROM plants ORDER BY id').all()).toEqual([
      { id: 1, name: 'Rosa canina' },
      { id: 2, name: 'Rosa canina' },
    ]);
    database.close();
  });
});
