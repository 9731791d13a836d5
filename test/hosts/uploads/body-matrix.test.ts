/**
 * Something else read the body first. If the raw bytes were kept, they are used; a parsed body is used if it is exact.
 * If the body is consumed or rounded, the error names the line to move. No request hangs, and no rounded id is stored.
 */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Module, type NestModule, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import express4 from 'express4';
import { H3, toNodeHandler } from 'h3';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import Koa2 from 'koa2';
import { acceptTokens, createPlantStore, type NewPlant, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../../support/client.js';
import { listen, type Running } from '../../support/sockets.js';
import { titled } from '../../support/titled.js';
import { type NextFiles, serveNext } from '../next.js';

const bodies = {
  'a plant with a small id': '{"id":1,"name":"Rosa"}',
  'a plant with an id beyond 2^53': '{"id":9007199254740993,"name":"Rosa"}',
  'a body that is not JSON': '{"id":1,"name":',
  'an empty body': '',
};

/** 200, or the number of the Error; or the response of a parser that comes before. */
type Outcome = 200 | 40001 | 40002 | 50003 | "the parser's own 400";

const exact: readonly Outcome[] = [200, 200, 40001, 40001];
const gone: readonly Outcome[] = [50003, 50003, 50003, 50003];

interface Row {
  readonly before: string;
  /** One outcome for each body, in their order. */
  readonly outcomes: readonly Outcome[];
  readonly start: (handle: PlantHandler) => Promise<Running>;
}

const onExpress =
  (make: typeof express, ...before: express.RequestHandler[]) =>
  (handle: PlantHandler) =>
    listen(createServer(make().use(...before, toExpress(handle))));

const drain: express.RequestHandler = (request, _response, next) => {
  request.resume().on('end', next);
};
const keepBytes = (request: object, _response: unknown, bytes: Uint8Array) => {
  Object.assign(request, { rawBody: bytes });
};

const expressRows = [
  { name: 'Express 5', make: express },
  { name: 'Express 4', make: express4 as unknown as typeof express },
].flatMap(({ name, make }): Row[] => [
  { before: `${name}, nothing`, outcomes: exact, start: onExpress(make) },
  {
    before: `${name}, express.json()`,
    outcomes: [200, 50003, "the parser's own 400", 40001],
    start: onExpress(make, make.json()),
  },
  {
    before: `${name}, express.json({ verify }) that keeps rawBody`,
    outcomes: [200, 200, "the parser's own 400", 40001],
    start: onExpress(make, make.json({ verify: keepBytes })),
  },
  {
    before: `${name}, express.text()`,
    outcomes: exact,
    start: onExpress(make, make.text({ type: 'application/json' })),
  },
  {
    before: `${name}, express.raw()`,
    outcomes: exact,
    start: onExpress(make, make.raw({ type: 'application/json' })),
  },
  {
    before: `${name}, express.urlencoded(), which leaves other types alone`,
    outcomes: exact,
    start: onExpress(make, make.urlencoded({ extended: false })),
  },
  {
    before: `${name}, a {} next to the unread stream`,
    outcomes: exact,
    start: onExpress(make, (request, _response, next) => {
      request.body = {};
      next();
    }),
  },
  {
    before: `${name}, a middleware that drained the stream`,
    outcomes: [50003, 50003, 50003, 40001],
    start: onExpress(make, drain),
  },
  {
    before: `${name}, a middleware that keeps the first chunk as rawBody and leaves the remaining body`,
    outcomes: [50003, 50003, 50003, 40001],
    start: onExpress(make, (request, _response, next) => {
      const onData = (chunk: Uint8Array) => {
        keepBytes(request.pause(), _response, chunk);
        next();
      };
      request.once('data', onData).once('end', next);
    }),
  },
  {
    before: `${name}, a {} in place of the drained stream`,
    outcomes: [40002, 40002, 40002, 40001],
    start: onExpress(make, drain, (request, _response, next) => {
      request.body = {};
      next();
    }),
  },
  {
    before: `${name}, a middleware that called setEncoding`,
    outcomes: exact,
    start: onExpress(make, (request, _response, next) => {
      request.setEncoding('latin1');
      next();
    }),
  },
]);

const koaRows = [
  { name: 'Koa 3', Make: Koa },
  { name: 'Koa 2', Make: Koa2 as unknown as typeof Koa },
].flatMap(({ name, Make }): Row[] => {
  const onKoa =
    (...before: Koa.Middleware[]) =>
    (handle: PlantHandler) => {
      const app = before.reduce((app, one) => app.use(one), new Make()).use(toKoa(handle));
      app.silent = true;
      return listen(createServer(app.callback()));
    };
  return [
    { before: `${name}, nothing`, outcomes: exact, start: onKoa() },
    {
      before: `${name}, koa-bodyparser, which keeps rawBody`,
      outcomes: [200, 200, "the parser's own 400", 40001],
      start: onKoa(bodyParser()),
    },
    {
      before: `${name}, a parser that keeps the value alone`,
      outcomes: [200, 50003, "the parser's own 400", 40001],
      start: onKoa(bodyParser(), (context, next) => {
        delete (context.request as { rawBody?: unknown }).rawBody;
        return next();
      }),
    },
  ];
});

/** Nest mounts a module's middleware below its body parser. For one method, because `app.use` would strip the path. */
const onNest = (options: { rawBody: boolean }) => async (handle: PlantHandler) => {
  class App implements NestModule {
    configure(consumer: Parameters<NestModule['configure']>[0]) {
      consumer.apply(toExpress(handle)).forRoutes({ path: 'plants', method: RequestMethod.POST });
    }
  }
  Module({})(App);
  const app = await NestFactory.create(App, { ...options, logger: false });
  await app.init();
  return listen(app.getHttpServer());
};

const nestRows: readonly Row[] = [
  {
    before: 'NestJS, its parser',
    outcomes: [200, 50003, "the parser's own 400", 40001],
    start: onNest({ rawBody: false }),
  },
  {
    before: 'NestJS, its parser with rawBody: true',
    outcomes: [200, 200, "the parser's own 400", 40001],
    start: onNest({ rawBody: true }),
  },
];

const onNext = (files: (handle: PlantHandler) => NextFiles) => (handle: PlantHandler) =>
  listen(createServer(serveNext(files(handle), '/plants')));

const onRoute = (before: (request: Request) => unknown) =>
  onNext((handle) => {
    const fetch = toFetch(handle);
    return {
      route: {
        POST: async (request) => {
          await before(request);
          return fetch(request);
        },
      },
    };
  });

const nextRows: readonly Row[] = [
  {
    before: "Next's pages parser",
    outcomes: [200, 50003, "the parser's own 400", 40001],
    start: onNext((handle) => ({ page: { default: toNode(handle) } })),
  },
  {
    before: 'Next, pages with bodyParser: false',
    outcomes: exact,
    start: onNext((handle) => ({
      page: { default: toNode(handle), config: { api: { bodyParser: false } } },
    })),
  },
  {
    before: 'a Next route, request.text()',
    outcomes: gone,
    start: onRoute((request) => request.text()),
  },
  {
    before: 'a Next route, request.clone().text()',
    outcomes: exact,
    start: onRoute((request) => request.clone().text()),
  },
  {
    before: 'a Next route that holds the reader of the stream',
    outcomes: gone,
    start: onRoute((request) => request.body?.getReader()),
  },
];

const onHono =
  (...before: Parameters<Hono['use']>[1][]) =>
  (handle: PlantHandler) => {
    const fetch = toFetch(handle);
    const app = before.reduce((app, one) => app.use('*', one), new Hono());
    app.all('*', (context) => fetch(context.req.raw));
    return listen(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })));
  };

const fetchRows: readonly Row[] = [
  { before: 'Hono, nothing', outcomes: exact, start: onHono() },
  {
    before: 'Hono, c.req.json()',
    outcomes: gone,
    start: onHono(async (context, next) => {
      await context.req.json().catch(() => undefined);
      await next();
    }),
  },
  {
    before: 'Hono, a middleware that read a part of the stream',
    outcomes: gone,
    start: onHono(async (context, next) => {
      const reader = context.req.raw.body!.getReader();
      await reader.read();
      reader.releaseLock();
      await next();
    }),
  },
  {
    before: 'Hono, a middleware that holds the reader of the stream',
    outcomes: gone,
    start: onHono(async (context, next) => {
      context.req.raw.body!.getReader();
      await next();
    }),
  },
  { before: 'Hono, its bodyLimit()', outcomes: exact, start: onHono(bodyLimit({ maxSize: 1000 })) },
  {
    before: 'h3, event.req.json()',
    outcomes: gone,
    start: (handle) => {
      const fetch = toFetch(handle);
      const app = new H3().post('/plants', async ({ req }) => {
        await req.json().catch(() => undefined);
        return fetch(req);
      });
      return listen(createServer(toNodeHandler(app) as Parameters<typeof createServer>[1]));
    },
  },
];

const rows = [...expressRows, ...koaRows, ...nestRows, ...nextRows, ...fetchRows];

describe.each(titled(rows, ({ before }) => before))('behind %s', (_, { outcomes, start }) => {
  const plants = new Map<bigint, NewPlant>();
  const told: Error[] = [];
  const handle = createPlantStore(memoryStorage(plants), acceptTokens('secret'), {
    onError: (error) => void told.push(error as Error),
  });
  let running: Running;
  beforeAll(async () => {
    running = await start(handle);
  });
  afterAll(() => running.close());

  const cells = Object.entries(bodies).map(([what, body], i) => [what, outcomes[i]!, body] as const);

  test.each(cells)('%s returns %s', async (_, outcome, body) => {
    plants.clear();
    told.length = 0;
    const { status, text } = await clientOf(running.url).send({
      method: 'POST',
      path: '/plants',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: new TextEncoder().encode(body),
    });
    if (outcome === "the parser's own 400") {
      expect(status).toBe(400);
      expect(text).not.toContain('"error":4');
    } else if (outcome !== 200) {
      expect(JSON.parse(text)).toMatchObject({ error: outcome });
    }
    const stored = outcome === 200 ? [{ id: BigInt(/\d+/.exec(body)![0]), name: 'Rosa' }] : [];
    expect([...plants.values()]).toEqual(stored);
    const advice = /(mount|register) plant-store (above|before)|call plant-store first/;
    expect(told.map(({ message }) => advice.test(message))).toEqual(outcome === 50003 ? [true] : []);
  });
});
