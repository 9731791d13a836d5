// What people get wrong in the first hour, and the one sentence that says so: in an exception, a response or the log. What no
// sentence can say, because plant-store cannot see it, is under `nothing`, and its page warns of it. Other values of options and
// tokens: core/options.test.ts; other ids: core/client.test.ts.
import { createServer } from 'node:http';
import express from 'express';
import Database from 'libsql';
import { createPool } from 'mysql2';
import { createPool as createPromisePool } from 'mysql2/promise';
import pg from 'pg';
import {
  acceptTokens,
  createPlantStore,
  guard,
  type NewPlant,
  type PlantHandler,
  type PlantStoreOptions,
  type VerifyToken,
} from 'plant-store';
import { type ClientFetch, createPlantClient } from 'plant-store/client';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch, toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../support/sockets.js';

// Each mistake is one that TypeScript would have found, or that JavaScript has no types for.
// biome-ignore lint/suspicious/noExplicitAny: a mistake
type Wrong = any;

const tokens = acceptTokens('secret');
const wrong = (value: unknown): Wrong => value;
const withOptions = (options: object) => () =>
  createPlantStore(memoryStorage(), tokens, options as PlantStoreOptions);

/** Creates a plant through a client of a store that listens in this process. */
async function clientOf(options: PlantStoreOptions, baseUrl: string): Promise<unknown> {
  const plants = toFetch(createPlantStore(memoryStorage(), tokens, options));
  const fetch: ClientFetch = (url, init) => plants(new Request(url, init as RequestInit));
  return createPlantClient(baseUrl, { token: 'secret', fetch }).create({ id: 1, name: 'Rosa' });
}

describe('an exception says what is wrong', () => {
  it.each<[mistake: string, make: () => unknown, sentence: string]>([
    [
      'no storage',
      () => createPlantStore(wrong(undefined), tokens),
      'TypeError: storage.create must be a function, got undefined as the storage; pass a storage, such as memoryStorage()',
    ],
    [
      'the arguments in the wrong order',
      () => createPlantStore(wrong(tokens), wrong(memoryStorage())),
      'TypeError: storage.create must be a function, got a function as the storage; pass the storage first, such as memoryStorage(), and then verifyToken',
    ],
    [
      'the function in place of its storage',
      () => createPlantStore(wrong(memoryStorage), tokens),
      'TypeError: storage.create must be a function, got the function memoryStorage as the storage; pass the storage first, such as memoryStorage(), and then verifyToken',
    ],
    [
      'a storage that is not awaited',
      () => createPlantStore(wrong(Promise.resolve(memoryStorage())), tokens),
      'TypeError: storage.create must be a function, got an object of class Promise as the storage; await it first',
    ],
    [
      'a pool in place of a storage',
      () => createPlantStore(wrong(new pg.Pool()), tokens),
      'TypeError: storage.create must be a function, got an object of class BoundPool as the storage; pass postgresStorage(pool) or mysqlStorage(pool)',
    ],
    [
      'no verifyToken',
      () => createPlantStore(memoryStorage(), wrong(undefined)),
      'TypeError: verifyToken must be a function, got undefined; pass a function that returns the caller of a token, or acceptTokens(token)',
    ],
    [
      'a token in place of verifyToken',
      () => createPlantStore(memoryStorage(), wrong('secret')),
      'TypeError: verifyToken must be a function, got a string; pass acceptTokens(token)',
    ],
    [
      'a token with its scheme',
      () => acceptTokens('Bearer secret'),
      'TypeError: acceptTokens: each token must be a string of A-Z a-z 0-9 - . _ ~ + / with "=" at its end only, got a string that begins with "Bearer "; pass the token alone',
    ],
    [
      'a base path without a slash',
      withOptions({ basePath: 'api' }),
      'TypeError: basePath must be a percent-encoded path that starts with "/" and does not end with one, such as "/api", got "api"',
    ],
    [
      'replays without find',
      () => createPlantStore({ create: async () => 'created' }, tokens, { acceptReplays: true }),
      'TypeError: acceptReplays requires storage.find',
    ],
    [
      'a storage in place of the handler',
      () => toExpress(wrong(memoryStorage())),
      'TypeError: plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)). The adapter got an object.',
    ],
    [
      'no handler',
      () => toRoute(wrong(undefined)),
      'TypeError: plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)). The adapter got undefined.',
    ],
    [
      'createPlantStore itself as the handler',
      () => toFetch(wrong(createPlantStore)),
      'TypeError: plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)). The adapter got the function createPlantStore.',
    ],
    [
      'a handler that is not awaited',
      () => toFastify(wrong(Promise.resolve())),
      'TypeError: plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)). The adapter got an object of class Promise.',
    ],
    [
      'a URL in place of a pool',
      () => postgresStorage(wrong('postgres://127.0.0.1/plants')),
      'TypeError: postgresStorage needs a pg Pool, a PGlite or a connected Client, got a string that looks like a URL or a connection string: pass new pg.Pool(), or call await client.connect() first. For libraries, see examples/README.md#databases',
    ],
    [
      'createTable() where the database is not, as in a build',
      () => postgresStorage(new pg.Pool({ host: '127.0.0.1', port: 1 })).createTable(),
      'StorageBusy: createTable() got no connection to the database: connect ECONNREFUSED 127.0.0.1:1. If this is a build, run a migration before the deployment instead: npx plant-store schema prints the SQL',
    ],
    [
      'a pool that is not awaited',
      () => postgresStorage(wrong(Promise.resolve(new pg.Pool()))),
      'TypeError: postgresStorage needs a pg Pool, a PGlite or a connected Client, got an object of class Promise: await it first. For libraries, see examples/README.md#databases',
    ],
    [
      'a file in place of a database',
      () => sqliteStorage(wrong('plants.db')),
      "TypeError: sqliteStorage needs a database, a client or a binding of SQLite, got a string: pass new Database('plants.db'), createClient({ url }), env.DB or ctx.storage. For libraries, see examples/README.md#databases",
    ],
    [
      "mysql2's pool with callbacks",
      () => mysqlStorage(wrong(createPool('mysql://127.0.0.1:1/x'))),
      'TypeError: mysqlStorage needs a mysql2/promise pool, got an object of class Pool: pass pool.promise(), or createPool of mysql2/promise. For libraries, see examples/README.md#databases',
    ],
    [
      'createTable() where the database is not, on MySQL',
      () => mysqlStorage(createPromisePool('mysql://127.0.0.1:1/x')).createTable(),
      'StorageBusy: createTable() got no connection to the database: connect ECONNREFUSED 127.0.0.1:1. If this is a build, run a migration before the deployment instead: npx plant-store schema prints the SQL',
    ],
    [
      'check() where the database is not',
      () => postgresStorage(new pg.Pool({ host: '127.0.0.1', port: 1 })).check(),
      'StorageBusy: check() got no connection to the database: connect ECONNREFUSED 127.0.0.1:1. Check the settings of the pool, and whether the database runs. A build has none; in a Worker, call it in a handler',
    ],
    [
      'a guard without verifyToken',
      () =>
        guard(
          wrong(async () => ({ status: 200, headers: {}, body: '' })),
          wrong(undefined),
        ),
      'TypeError: handler must be a function, got undefined; pass guard(verifyToken, handler)',
    ],
    [
      'a guard in an adapter, without its functions',
      () => toExpress(wrong(guard)),
      'TypeError: plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)). The adapter got the function guard.',
    ],
    [
      'a URL without its scheme, in the client',
      () => createPlantClient('localhost:3000/api', { token: 'secret' }),
      'TypeError: baseUrl must begin with "https://", "http://" or, in a browser, "/", such as "https://example.com/api", got a string',
    ],
    [
      'a path in place of a URL, in the client, outside of a browser',
      () => createPlantClient('/api', { token: 'secret' }),
      'TypeError: baseUrl must begin with "https://", "http://" or, in a browser, "/", such as "https://example.com/api", got a path',
    ],
    [
      'a URL that is not set, in the client',
      () => createPlantClient(wrong(undefined), { token: 'secret' }),
      'TypeError: baseUrl must begin with "https://", "http://" or, in a browser, "/", such as "https://example.com/api", got undefined',
    ],
    [
      'no options, in the client',
      () => createPlantClient('http://localhost', wrong(undefined)),
      'TypeError: token must be a string of A-Z a-z 0-9 - . _ ~ + / with "=" at its end only, or a function that returns one, got undefined; is the environment variable set?',
    ],
    [
      'a function that returns no token, in the client',
      () =>
        createPlantClient('http://localhost', { token: wrong(async () => null) }).create({
          id: 1,
          name: 'Rosa',
        }),
      'TypeError: what the function token returns must be a string of A-Z a-z 0-9 - . _ ~ + / with "=" at its end only, got null',
    ],
    [
      'a token with its scheme, in the client',
      () => createPlantClient('http://localhost', { token: 'Bearer secret' }),
      'TypeError: token must be a string of A-Z a-z 0-9 - . _ ~ + / with "=" at its end only, or a function that returns one, got a string that begins with "Bearer "; pass the token alone',
    ],
    [
      'the path of the operation in the base URL of the client',
      () => clientOf({ basePath: '/api' }, 'http://localhost/api/plants'),
      'PlantError: Not found. Use POST /api/plants. The request was for /api/plants/plants.',
    ],
    [
      'an id as a bigint through JSON.stringify',
      () => JSON.stringify({ id: 9007199254740993n, name: 'Rosa' }),
      'TypeError: Do not know how to serialize a BigInt',
    ],
  ])('%s', async (_, make, sentence) => {
    const message = await (async () => make())().then(
      () => 'nothing',
      (error: Error) => `${error.name}: ${error.message}`,
    );
    expect(message).toBe(sentence);
  });
});

const post = (path: string, headers: Record<string, string>, body?: string) =>
  new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
const rosa = (id: string) => `{"id":${id},"name":"Rosa"}`;

describe('a response says what is wrong', () => {
  it.each<[mistake: string, request: Request, sentence: string, basePath?: string]>([
    [
      'an id as a string',
      post('/plants', {}, rosa('"1"')),
      '40002 Not a NewPlant: id must be an integer from -2^63 to 2^63-1, as a JSON number, not a string.',
    ],
    [
      'no Content-Type',
      post('/plants', { 'content-type': 'text/plain' }, rosa('1')),
      '40005 Send the body as application/json, without a Content-Encoding. The Content-Type is text/plain.',
    ],
    [
      'a form',
      post('/plants', { 'content-type': 'application/x-www-form-urlencoded' }, 'id=1'),
      '40005 Send the body as application/json, without a Content-Encoding. The Content-Type is application/x-www-form-urlencoded.',
    ],
    [
      'a token without its scheme',
      post('/plants', { authorization: 'secret' }, rosa('1')),
      '40101 Missing bearer token. Send "Authorization: Bearer <token>".',
    ],
    [
      'another token',
      post('/plants', { authorization: 'Bearer wrong' }, rosa('1')),
      '40102 The bearer token is invalid or expired. Get a new one.',
    ],
    [
      'JSON in JSON',
      post('/plants', {}, JSON.stringify(rosa('1'))),
      '40002 Not a NewPlant: the body must be a JSON object.',
    ],
    [
      'an object that was not stringified',
      post('/plants', {}, '[object Object]'),
      '40001 The body is empty or is not JSON. Send a JSON object in UTF-8.',
    ],
    ['no body', post('/plants', {}), '40001 The body is empty or is not JSON. Send a JSON object in UTF-8.'],
    [
      'a slash at the end',
      post('/plants/', {}, rosa('1')),
      '40401 Not found. Use POST /plants. The request was for /plants/.',
    ],
    [
      'no basePath',
      post('/api/plants', {}, rosa('1')),
      '40401 Not found. Use POST /plants. The request was for /api/plants.',
    ],
    [
      'a basePath that the host has stripped',
      post('/plants', {}, rosa('1')),
      '40401 Not found. Use POST /api/plants. The request was for /plants.',
      '/api',
    ],
    ['another method', new Request('http://localhost/plants'), '40501 Method not allowed. Use POST.'],
  ])('%s', async (_, request, sentence, basePath = '') => {
    const fetch = toFetch(createPlantStore(memoryStorage(), tokens, { basePath }));
    const response = await fetch(request);
    const { error, message } = (await response.json()) as { error: number; message: string };
    expect(`${error} ${message}`).toBe(sentence);
  });
});

describe('nothing', () => {
  it('an id that JSON.stringify rounded at the client: the server stores what it gets', async () => {
    const plants = new Map<bigint, NewPlant>();
    const fetch = toFetch(createPlantStore(memoryStorage(plants), tokens));
    const id = Number('9007199254740993');
    const response = await fetch(post('/plants', {}, JSON.stringify({ id, name: 'Rosa' })));
    expect([response.status, ...plants.keys()]).toEqual([200, 9007199254740992n]);
  });

  it('a guard mounted for a whole path: it responds to every request there, and the routes after it to none', async () => {
    const answer = guard(tokens, async () => ({ status: 200, headers: {}, body: 'of the guard' }));
    const app = express().use('/api', toExpress(answer));
    app.get('/api/other', (_request, response) => void response.send('of the route'));
    const { url, close } = await listen(createServer(app));
    onTestFinished(close);
    const response = await fetch(`${url}/api/other`, { headers: { authorization: 'Bearer secret' } });
    expect(await response.text()).toBe('of the guard');
  });
});

describe('a line of the log says what is wrong', () => {
  afterEach(() => void vi.restoreAllMocks());

  const behind =
    (...middleware: express.RequestHandler[]) =>
    (handle: PlantHandler) =>
      express().use(...middleware, toExpress(handle));
  const alone = (handle: PlantHandler) => express().use(toExpress(handle));
  class JsonWebTokenError extends Error {}
  const store = (verifyToken: VerifyToken<Wrong>, create: () => unknown = () => 'created') =>
    createPlantStore({ create: create as Wrong }, verifyToken);

  it.each<
    [
      mistake: string,
      mount: (handle: PlantHandler) => express.Express,
      handle: () => PlantHandler,
      sentence: string,
    ]
  >([
    [
      'express.json in front, and an id beyond 2^53',
      behind(express.json()),
      () => store(tokens),
      'plant-store: 50003 body_unreadable, POST /plants: a body parser rounded the id: mount plant-store before it, or keep rawBody as adapters/hosts/README.md#behind-a-body-parser shows',
    ],
    [
      'a parser that keeps nothing',
      behind(express.raw({ type: '*/*' }), (request, _response, next) => {
        request.body = undefined;
        next();
      }),
      () => store(tokens),
      'plant-store: 50003 body_unreadable, POST /plants: request body already consumed: register plant-store before body parsers and loggers, or keep the raw bytes: express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) })',
    ],
    [
      'a verifier that throws for an invalid token',
      alone,
      () =>
        store(() => {
          throw new JsonWebTokenError('jwt malformed');
        }),
      'plant-store: 50002 verification_failed, POST /plants: verifyToken threw JsonWebTokenError. verifyToken must return null for an invalid token, and throw only if it could not check the token. Its text may quote the request and is left out; onError: logWithMessages shows it',
    ],
    [
      'a verifier with a fault of its own',
      alone,
      () => store(() => Promise.reject(new TypeError("Cannot read properties of undefined (reading 'get')"))),
      'plant-store: 50002 verification_failed, POST /plants: verifyToken threw TypeError. verifyToken must return null for an invalid token, and throw only if it could not check the token. Its text may quote the request and is left out; onError: logWithMessages shows it',
    ],
    [
      'a storage that returns nothing',
      alone,
      () => store(tokens, () => undefined),
      "plant-store: 50001 storage_failed, POST /plants: storage.create must return 'created' or 'taken'",
    ],
    [
      'a table that was not created',
      alone,
      () => createPlantStore(sqliteStorage(new Database(':memory:')), tokens),
      'plant-store: 50004 storage_rejected, POST /plants: plant-store cannot use the table "plants": it does not exist. If yours has another name, set the option table; else call storage.createTable(), or run: CREATE TABLE IF NOT EXISTS "plants" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL, "tag" TEXT);: SqliteError SQLITE_ERROR. Its text may quote the request and is left out; onError: logWithMessages shows it',
    ],
    [
      'a guard without an adapter',
      (handle) => express().use(wrong(handle)),
      () => guard(tokens, async () => ({ status: 200, headers: {}, body: '' })),
      'plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)).',
    ],
    [
      'a guard that returns nothing',
      alone,
      () =>
        guard(
          tokens,
          wrong(async () => undefined),
        ),
      'plant-store: 50000 internal_error, POST /plants: a guarded handler must return { status, headers, body }: an integer from 200 to 599, a plain object of header fields, and a string, which is empty for 204, 205 and 304',
    ],
  ])('%s', async (_, mount, handle, sentence) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { url, close } = await listen(createServer(mount(handle())));
    onTestFinished(close);
    await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: rosa('9007199254740993'),
    });
    const [line = ''] = String(log.mock.calls[0]?.[0]).split('\n');
    expect(line).toBe(sentence);
  });
});
