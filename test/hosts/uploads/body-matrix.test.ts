/**
 * Something in front listens to the body, decodes it, keeps it or reads it first. If the raw bytes were kept, they are used; a
 * parsed body is used if it is exact. If the body is consumed or rounded, the error names the line to move. No request
 * hangs, and no rounded id is stored.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { H3, toNodeHandler } from 'h3';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import bodyParser from 'koa-bodyparser';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFetch, toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test } from 'vitest';
import { chunk, lastChunk, listen, raw, Wire } from '../../support/sockets.js';
import { appHosts, type Before, expresses, hostNamed, koas, onKoa, type Start } from '../hosts.js';
import { errorOf, json, token } from '../node/server.js';
import {
  adviceToFetch,
  behindExpress,
  bodiesBehind,
  decoded,
  exact,
  gone,
  goneFromFetch,
  keptBytes,
  keptText,
  type Outcomes,
  parsed,
  é,
} from './body-matrix.js';

type FetchCallback = Parameters<typeof getRequestListener>[0];
type Row = [before: string, outcomes: Outcomes, start: Start];

const keepBytes = (parsed: object, _response: unknown, bytes: Uint8Array) =>
  void Object.assign(parsed, { rawBody: bytes });
const drain = (request: IncomingMessage, next: () => unknown) => void request.resume().on('end', next);
const meddling =
  (meddle: (request: IncomingMessage) => unknown): Before =>
  (request, _response, next) => {
    meddle(request);
    next();
  };

const inFront: readonly [string, Outcomes, Before][] = [
  ['a data listener', exact, meddling((request) => request.on('data', () => {}))],
  ['a pause', exact, meddling((request) => request.pause())],
  ['a data listener that was paused', exact, meddling((request) => request.on('data', () => {}).pause())],
  ['a readable listener that reads nothing', exact, meddling((request) => request.on('readable', () => {}))],
  [
    'a listener that gathers rawBody',
    exact,
    (request, _response, next, parsed: { rawBody?: string }) => {
      parsed.rawBody = '';
      request.on('data', (chunk) => {
        parsed.rawBody += chunk;
      });
      next();
    },
  ],
  ["setEncoding('utf8')", decoded, meddling((request) => request.setEncoding('utf8'))],
  ...(['latin1', 'hex', 'base64'] as const).map((encoding): [string, Outcomes, Before] => [
    `setEncoding('${encoding}')`,
    exact,
    meddling((request) => request.setEncoding(encoding)),
  ]),
  ["setEncoding('ascii')", gone, meddling((request) => request.setEncoding('ascii'))],
  ["setEncoding('utf16le')", gone, meddling((request) => request.setEncoding('utf16le'))],
  [
    'a {} next to the unread stream',
    exact,
    (_request, _response, next, parsed) => {
      Object.assign(parsed, { body: {} });
      next();
    },
  ],
  ['a middleware that drained the stream', gone, (request, _response, next) => drain(request, next)],
  [
    'a middleware that keeps the first chunk as rawBody and leaves the remaining body',
    gone,
    (request, _response, next, parsed) => {
      const onData = (chunk: Uint8Array) => {
        keepBytes(parsed, request.pause().off('end', next), chunk);
        next();
      };
      request.once('data', onData).once('end', next);
    },
  ],
  [
    'a {} in place of the drained stream',
    [40002, 40002, 40002, 40001, 40002, 40002],
    (request, _response, next, parsed) => {
      Object.assign(parsed, { body: {} });
      drain(request, next);
    },
  ],
];

const expressRows = Object.entries(expresses).flatMap(([name, make]): Row[] => {
  const behind = (parser: string, outcomes: Outcomes, before: express.RequestHandler): Row => [
    `${parser} on ${name}`,
    outcomes,
    (handle) => hostNamed(`${name}, at the root`).start(handle, { before: before as unknown as Before }),
  ];
  return [
    behind('express.json()', parsed, make.json()),
    behind('express.json({ verify }) that keeps rawBody', keptBytes, make.json({ verify: keepBytes })),
    behind('express.text()', decoded, make.text({ type: 'application/json' })),
    behind('express.raw()', exact, make.raw({ type: 'application/json' })),
    behind(
      'express.urlencoded(), which leaves other types alone',
      exact,
      make.urlencoded({ extended: false }),
    ),
  ];
});

const koaRows = Object.entries(koas).flatMap(([name, Make]): Row[] => {
  const parser = bodyParser();
  const behind = (keepsText: boolean) =>
    onKoa(Make, (plants) => (context, next) => {
      return parser(context, async () => {
        if (!keepsText) delete (context.request as { rawBody?: unknown }).rawBody;
        await plants(context, next);
      });
    });
  return [
    [`koa-bodyparser, which keeps rawBody as text, on ${name}`, keptText, behind(true)],
    [`a parser that keeps the value alone, on ${name}`, parsed, behind(false)],
  ];
});

/** @param inFront a middleware of an Express app that Hono is in */
const onHono =
  (before: MiddlewareHandler = (_context, next) => next(), inFront?: express.RequestHandler) =>
  (handle: PlantHandler) => {
    const fetch = toFetch(handle);
    const app = new Hono().use(before).all('*', (context) => fetch(context.req.raw));
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    return listen(createServer(inFront ? express().use(inFront, listener) : listener));
  };

const reading =
  (read: (context: Context) => Promise<unknown>): MiddlewareHandler =>
  async (context, next) => {
    await read(context).catch(() => undefined);
    await next();
  };

const rows: readonly Row[] = [
  ...appHosts.flatMap(({ name, start }) =>
    inFront.map(
      ([what, outcomes, before]): Row => [
        `${what} on ${name}`,
        outcomes,
        (handle) => start(handle, { before }),
      ],
    ),
  ),
  ...expressRows,
  ...koaRows,
  // Its 400 to an empty body is plant-store's: Express does not parse one.
  ['express.json() in front of Hono', behindExpress, onHono(undefined, express.json())],
  [
    'express.json({ verify }) that keeps rawBody in front of Hono',
    keptBytes,
    onHono(undefined, express.json({ verify: keepBytes })),
  ],
  ['c.req.json() of Hono', goneFromFetch, onHono(reading((c) => c.req.json()))],
  ['c.req.raw.text() on Hono', goneFromFetch, onHono(reading((c) => c.req.raw.text()))],
  ['c.req.raw.clone().text() on Hono', exact, onHono(reading((c) => c.req.raw.clone().text()))],
  [
    'a middleware of Hono that read a part of the stream',
    goneFromFetch,
    onHono(
      reading(async (c) => {
        const reader = c.req.raw.body!.getReader();
        await reader.read();
        reader.releaseLock();
      }),
    ),
  ],
  [
    'a middleware of Hono that holds the reader of the stream',
    goneFromFetch,
    onHono(reading(async (c) => c.req.raw.body!.getReader())),
  ],
  ['bodyLimit() of Hono', exact, onHono(bodyLimit({ maxSize: 1000 }))],
  [
    'event.req.json() of h3',
    goneFromFetch,
    (handle) => {
      const fetch = toFetch(handle);
      const app = new H3().post('/plants', async ({ req }) => {
        await req.json().catch(() => undefined);
        return fetch(req);
      });
      return listen(createServer(toNodeHandler(app) as Parameters<typeof createServer>[1]));
    },
  ],
];

describe.each(rows)('behind %s', (_, outcomes, start) => bodiesBehind(outcomes, start));

/** Ways to mount plant-store in a Hono app on Node. */
const honoMounts: readonly [how: string, error: number, (handle: PlantHandler) => FetchCallback][] = [
  ['toFetch without Hono', 50003, (handle) => toFetch(handle)],
  ['app.mount', 50003, (handle) => new Hono().mount('/', toFetch(handle)).fetch],
  ['a route that passes c.env', 50003, (handle) => honoRoute((c) => toRoute(handle)(c.req.raw, c.env))],
  // Nothing that is documented leads from this Request to Node's.
  ['a route that passes the request alone', 40001, (handle) => honoRoute((c) => toRoute(handle)(c.req.raw))],
];
const honoRoute = (route: (context: Context) => Promise<Response>): FetchCallback =>
  new Hono().post('/plants', route).fetch;

describe.each(honoMounts)('by %s, a body in chunks that express.json() has read', (_, error, mount) => {
  const sent = async (body: string, parser?: express.RequestHandler) => {
    const told: unknown[] = [];
    const onError = (error: unknown) => void told.push((error as Error).message);
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'), { onError });
    const listener = getRequestListener(mount(handle), { overrideGlobalObjects: false });
    const app = parser ? express().use(parser) : express();
    const running = await listen(createServer(app.use(listener)));
    const wire = await Wire.open(running.port);
    await wire.write(raw([token, json, 'Transfer-Encoding: chunked']));
    await wire.write((body && chunk(body)) + lastChunk);
    const { status, text } = await wire.answer();
    await running.close();
    return { outcome: status === 200 ? status : JSON.parse(text).error, told };
  };

  test(`returns ${error}`, async () => {
    const told = error === 50003 ? [adviceToFetch] : [];
    expect(await sent(é, express.json())).toEqual({ outcome: error, told });
  });

  test('is created if the parser keeps its bytes, or if there is no parser', async () => {
    expect(await sent(é, express.json({ verify: keepBytes }))).toEqual({ outcome: 200, told: [] });
    expect(await sent(é)).toEqual({ outcome: 200, told: [] });
  });

  test('is 40001 if it was empty, with the parser and without', async () => {
    expect(await sent('', express.json())).toEqual({ outcome: 40001, told: [] });
    expect(await sent('')).toEqual({ outcome: 40001, told: [] });
  });
});

describe('a parser in front', () => {
  const limit = 1000;
  const behind = async (
    parser: express.RequestHandler,
    parts: readonly (string | Buffer)[],
    more = (app: express.Express) => app,
  ) => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'), { bodyLimit: limit });
    const running = await listen(createServer(more(express().use(parser, toExpress(handle)))));
    const wire = await Wire.open(running.port);
    for (const part of parts) await wire.write(part);
    const answer = await wire.answer();
    await running.close();
    return errorOf(answer);
  };
  const large = JSON.stringify({ id: 1, name: 'x'.repeat(limit + 1) });

  test.each([
    ['express.json()', express.json()],
    ['express.json() that keeps rawBody', express.json({ verify: keepBytes })],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.raw()', express.raw({ type: '*/*' })],
  ])(
    'bodyLimit binds behind %s that allows more, whether the length is declared or not',
    async (_name, parser) => {
      expect(await behind(parser, [raw([token, json], large)])).toBe(40006);
      const chunked = raw([token, json, 'Transfer-Encoding: chunked']);
      expect(await behind(parser, [chunked, chunk(large), lastChunk])).toBe(40006);
    },
  );

  test.each([
    ['express.json({ strict: false })', express.json({ strict: false })],
    ['express.text()', express.text({ type: '*/*' })],
  ])('a JSON string that holds a plant is not a plant behind %s', async (_name, parser) => {
    expect(await behind(parser, [raw([token, json], JSON.stringify(é))])).toBe(40002);
  });

  test("express.json() rejects what is not JSON itself; the error handler of the page gives the contract's Error", async () => {
    const onBadJson: express.ErrorRequestHandler = (error, _request, response, next) => {
      if (error.type !== 'entity.parse.failed') return next(error);
      response.status(400).json({ error: 40001, message: 'The body is empty or is not JSON.' });
    };
    const cut = raw([token, json], '{"id":1');
    expect(await behind(express.json(), [cut], (app) => app.use('/plants', onBadJson))).toBe(40001);
  });
});
