/** Middleware in front of the mount that listens to the body, pauses it, decodes it or gathers it. */
import { createServer, type IncomingMessage } from 'node:http';
import express from 'express';
import express4 from 'express4';
import Fastify from 'fastify';
import Koa from 'koa';
import { acceptTokens, createPlantStore, type NewPlant, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { listen, type Running, raw, Wire } from '../../support/sockets.js';
import { named, titled } from '../../support/titled.js';
import { errorOf, json, token } from '../node/server.js';

type Meddle = (request: IncomingMessage & { rawBody?: unknown; body?: unknown }) => void;

/** What stands in front in the current test. */
let meddle: Meddle = () => {};

const onExpress = (make: typeof express) => (handle: PlantHandler) => {
  const app = make().use((request, _response, next) => {
    meddle(request);
    next();
  });
  app.use(toExpress(handle)).use((request, response) => {
    request
      .setEncoding('utf8')
      .toArray()
      .then((parts) => response.send(`the app got ${parts.join('')}`));
  });
  return listen(createServer(app));
};

const apps: readonly { name: string; start: (handle: PlantHandler) => Promise<Running> }[] = [
  {
    name: 'node:http with a next',
    start: (handle) => {
      const middleware = toNode(handle);
      return listen(
        createServer((request, response) => {
          meddle(request);
          middleware(request, response, () => {
            request
              .setEncoding('utf8')
              .toArray()
              .then((parts) => response.end(`the app got ${parts.join('')}`));
          });
        }),
      );
    },
  },
  { name: 'Express 5', start: onExpress(express) },
  { name: 'Express 4', start: onExpress(express4 as unknown as typeof express) },
  {
    name: 'Koa 3',
    start: (handle) => {
      const app = new Koa().use((context, next) => {
        meddle(context.req);
        return next();
      });
      app.use(toKoa(handle)).use(async (context) => {
        context.body = `the app got ${(await context.req.setEncoding('utf8').toArray()).join('')}`;
      });
      return listen(createServer(app.callback()));
    },
  },
  {
    name: 'Fastify 5',
    start: async (handle) => {
      const app = Fastify();
      app.addHook('onRequest', ({ raw }, _reply, done) => {
        meddle(raw);
        done();
      });
      app.register(toFastify(handle));
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
      app.post('/others', async ({ body }) => `the app got ${body}`);
      app.setNotFoundHandler(
        async ({ raw }) => `the app got ${(await raw.setEncoding('utf8').toArray()).join('')}`,
      );
      await app.ready();
      return listen(app.server);
    },
  },
];

const é = '{"id":1,"name":"é"}';
const broken = Buffer.from(é, 'latin1');

/** What stands in front, what the client sends, and what must come of it: the stored name, or the number of the Error. */
const rows: readonly { what: string; meddle: Meddle; body?: string | Buffer; becomes: string | number }[] = [
  { what: 'a data listener', meddle: (request) => request.on('data', () => {}), becomes: 'é' },
  { what: 'a pause', meddle: (request) => request.pause(), becomes: 'é' },
  {
    what: 'a data listener that was paused',
    meddle: (request) => request.on('data', () => {}).pause(),
    becomes: 'é',
  },
  { what: 'a readable listener that reads nothing', meddle: (r) => r.on('readable', () => {}), becomes: 'é' },
  {
    what: 'a listener that gathers rawBody',
    meddle(request) {
      request.rawBody = '';
      request.on('data', (chunk) => {
        request.rawBody += chunk;
      });
    },
    becomes: 'é',
  },
  { what: "setEncoding('utf8')", meddle: (request) => request.setEncoding('utf8'), becomes: 'é' },
  {
    what: "setEncoding('utf8') and a body that is not UTF-8",
    meddle: (request) => request.setEncoding('utf8'),
    body: broken,
    becomes: 50003,
  },
  { what: "setEncoding('ascii')", meddle: (request) => request.setEncoding('ascii'), becomes: 50003 },
  { what: "setEncoding('utf16le')", meddle: (request) => request.setEncoding('utf16le'), becomes: 50003 },
  ...(['latin1', 'hex', 'base64'] as const).map((encoding) => ({
    what: `setEncoding('${encoding}')`,
    meddle: (request: IncomingMessage) => request.setEncoding(encoding),
    becomes: 'é',
  })),
  {
    what: 'a getter of body that throws',
    meddle: (request) => {
      Object.defineProperty(request, 'body', {
        get() {
          throw new Error('not parsed');
        },
      });
    },
    becomes: 'é',
  },
];

const outcomes = titled(rows, ({ what, becomes }) =>
  typeof becomes === 'number' ? `${what} is rejected with ${becomes}` : `${what} stores "${becomes}"`,
);

describe.each(named(apps))('on %s', (_, { start }) => {
  const plants = new Map<bigint, NewPlant>();
  const errors: unknown[] = [];
  const handle = createPlantStore(memoryStorage(plants), acceptTokens('good'), {
    onError: (error) => void errors.push(error),
    timeoutMs: 2000,
  });
  let running: Running;
  beforeAll(async () => {
    running = await start(handle);
  });
  beforeEach(() => {
    plants.clear();
    errors.length = 0;
  });
  afterAll(() => running.close());

  /** In two packets, the second after the server has seen the first; or, if nothing is awaited, in one. */
  async function send(bytes: Buffer, path: string, authorization: string, seen?: Promise<void>) {
    const wire = await Wire.open(running.port);
    const headers = [authorization, json, `Content-Length: ${bytes.length}`];
    const head = Buffer.from(raw(headers, '', { line: `POST ${path} HTTP/1.1` }));
    if (seen) {
      await wire.write(Buffer.concat([head, bytes.subarray(0, 7)]));
      await seen;
      await wire.write(bytes.subarray(7));
    } else await wire.write(Buffer.concat([head, bytes]));
    const answer = await wire.answer();
    wire.destroy();
    return answer;
  }
  /** Resolves a turn after the middleware in front has run. */
  const meddled = (how: Meddle) =>
    new Promise<void>((resolve) => {
      meddle = (request) => {
        how(request);
        setImmediate(() => setImmediate(resolve));
      };
    });

  test.each(outcomes)('a create behind %s', async (_, { meddle, body = é, becomes }) => {
    const answer = await send(Buffer.from(body), '/plants', token, meddled(meddle));
    if (typeof becomes === 'number') expect(errorOf(answer)).toBe(becomes);
    else expect(answer.text).toBe(`{"name":"${becomes}"}`);
    expect([...plants.values()]).toEqual(typeof becomes === 'string' ? [{ id: 1n, name: becomes }] : []);
  });

  test.each(outcomes)('a create in one packet behind %s', async (_, { meddle: how, body = é, becomes }) => {
    meddle = how;
    const answer = await send(Buffer.from(body), '/plants', token);
    if (typeof becomes === 'number') expect(errorOf(answer)).toBe(becomes);
    else expect(answer.text).toBe(`{"name":"${becomes}"}`);
    expect([...plants.values()]).toEqual(typeof becomes === 'string' ? [{ id: 1n, name: becomes }] : []);
    const advice = expect.stringMatching(
      /register plant-store before (whatever calls setEncoding|body parsers)/,
    );
    const told = becomes === 50003 ? [expect.objectContaining({ message: advice })] : [];
    expect(errors).toEqual(told);
  });

  test.each(titled(rows, ({ what }) => what))(
    'an invalid token behind %s is a 401',
    async (_, { meddle, body = é }) => {
      const answer = await send(Buffer.from(body), '/plants', 'Authorization: Bearer bad', meddled(meddle));
      expect(errorOf(answer)).toBe(40102);
    },
  );

  test.each([
    ['/others', "the app's own path"],
    ['/%70lants', 'a path that routers take for ours'],
  ])(
    'a body behind a data listener that falls through to the app is complete, and flows: %s, %s',
    async (path) => {
      let counted = 0;
      const seen = meddled((request) => {
        request.on('data', (chunk) => {
          counted += chunk.length;
        });
      });
      const answer = await send(Buffer.from('{"x":12345}'), path, token, seen);
      expect([answer.text, counted]).toEqual(['the app got {"x":12345}', 11]);
    },
  );
});

describe('a body that falls through to the app on node:http', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  test.each<[string, Meddle, (request: IncomingMessage) => Promise<string>]>([
    [
      'waits for an app that reads some turns later',
      () => {},
      async (request) => {
        for (let i = 0; i < 3; i++) await turn();
        return (await request.toArray()).join('');
      },
    ],
    [
      'flows to an app that listens to data, behind a data listener',
      (request) => request.on('data', () => {}),
      (request) =>
        new Promise((resolve) => {
          let text = '';
          request.on('data', (part) => (text += part)).on('end', () => resolve(text));
        }),
    ],
  ])('%s', async (_what, meddle, read) => {
    const middleware = toNode(createPlantStore(memoryStorage(), () => true));
    const { port, close } = await listen(
      createServer((request, response) => {
        meddle(request);
        middleware(request, response, async () => response.end(await read(request)));
      }),
    );
    onTestFinished(close);
    const wire = await Wire.open(port);
    onTestFinished(() => wire.destroy());
    await wire.write(raw([json], '{"x":12345}', { line: 'POST /others HTTP/1.1' }));
    expect((await wire.answer()).text).toBe('{"x":12345}');
  });
});

describe('a parser in front', () => {
  const limit = 1000;
  const storeBehind = (...parsers: express.RequestHandler[]) => {
    const storage = memoryStorage();
    const handle = createPlantStore(storage, acceptTokens('good'), { bodyLimit: limit, onError() {} });
    return listen(createServer(express().use(...parsers, toExpress(handle))));
  };
  const keepBytes = (request: object, _response: unknown, bytes: Uint8Array) =>
    void Object.assign(request, { rawBody: bytes });
  const large = JSON.stringify({ id: 1, name: 'x'.repeat(limit + 1) });

  test.each([
    ['express.json()', express.json()],
    ['express.json() that keeps rawBody', express.json({ verify: keepBytes })],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.raw()', express.raw({ type: '*/*' })],
  ])(
    'bodyLimit binds behind %s that allows more, whether the length is declared or not',
    async (_name, parser) => {
      const running = await storeBehind(parser);
      const framed = [
        { framing: `Content-Length: ${large.length}`, body: large },
        {
          framing: 'Transfer-Encoding: chunked',
          body: `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`,
        },
      ];
      for (const { framing, body } of framed) {
        const wire = await Wire.open(running.port);
        await wire.write(raw([token, json, framing], body));
        expect(errorOf(await wire.answer())).toBe(40006);
        wire.destroy();
      }
      await running.close();
    },
  );

  test.each([
    ['express.json({ strict: false })', express.json({ strict: false }), 40002],
    ['express.text()', express.text({ type: '*/*' }), 40002],
    ['nothing', ((_request, _response, next) => next()) as express.RequestHandler, 40002],
  ])('a JSON string that holds a plant is not a plant behind %s', async (_name, parser, error) => {
    const running = await storeBehind(parser);
    const wire = await Wire.open(running.port);
    await wire.write(raw([token, json], JSON.stringify(é)));
    expect(errorOf(await wire.answer())).toBe(error);
    wire.destroy();
    await running.close();
  });

  test("express.json() rejects what is not JSON itself; the error handler of the page gives the contract's Error", async () => {
    const onBadJson: express.ErrorRequestHandler = (error, _request, response, next) => {
      if (error.type !== 'entity.parse.failed') return next(error);
      response.status(400).json({ error: 40001, message: 'The body is empty or is not JSON.' });
    };
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
    const app = express().use(express.json(), toExpress(handle)).use('/plants', onBadJson);
    const running = await listen(createServer(app));
    const wire = await Wire.open(running.port);
    await wire.write(raw([token, json], '{"id":1'));
    expect(errorOf(await wire.answer())).toBe(40001);
    wire.destroy();
    await running.close();
  });

  test.each([
    ['with a byte order mark', `\ufeff${é}`, 200],
    ['that is not UTF-8', broken, 500],
  ])('a body %s behind express.text() returns %i', async (_what, body, status) => {
    const running = await storeBehind(express.text({ type: '*/*' }));
    const wire = await Wire.open(running.port);
    await wire.write(raw([token, json, `Content-Length: ${Buffer.byteLength(body)}`]));
    await wire.write(Buffer.from(body));
    expect((await wire.answer()).status).toBe(status);
    wire.destroy();
    await running.close();
  });
});
