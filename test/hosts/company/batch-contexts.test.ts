// Each batch runs in the AsyncLocalStorage, and so in the trace, of a create that is in it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { acceptTokens, createPlantStore, groupCommit, type PlantHandler, RolledBack } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { toNode } from 'plant-store/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, type Running } from '../../support/sockets.js';
import { named } from '../../support/titled.js';

/** Runs the whole of a request in its context. */
type Enter = <T>(id: string, task: () => T) => T;

/** Each host, with a middleware of the app that knows the request's id. */
const mounts: { name: string; start: (handle: PlantHandler, enter: Enter) => Promise<Running> }[] = [
  {
    name: 'node:http',
    start: (handle, enter) => {
      const mount = toNode(handle);
      return listen(
        createServer((request, response) =>
          enter(String(request.headers.id), () => mount(request, response)),
        ),
      );
    },
  },
  {
    name: 'Express',
    start: (handle, enter) => {
      const app = express();
      app.use((request, _response, next) => enter(String(request.headers.id), next));
      app.use(toExpress(handle));
      return listen(createServer(app));
    },
  },
  {
    name: 'Koa',
    start: (handle, enter) => {
      const app = new Koa();
      app.use((ctx, next) => enter(String(ctx.headers.id), next));
      app.use(toKoa(handle));
      return listen(createServer(app.callback()));
    },
  },
  {
    name: 'Fastify',
    start: async (handle, enter) => {
      const app = Fastify();
      app.addHook('onRequest', (request, _reply, done) => enter(String(request.headers.id), done));
      app.register(toFastify(handle));
      await app.ready();
      return listen(app.server);
    },
  },
  {
    name: 'Hono',
    start: (handle, enter) => {
      const app = new Hono();
      const mount = toFetch(handle);
      app.use((c, next) => enter(String(c.req.header('id')), next));
      app.all('*', (c) => mount(c.req.raw));
      return listen(createServer(getRequestListener(app.fetch)));
    },
  },
];

const turn = () => new Promise((resolve) => setImmediate(resolve));
const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };

/** Sends `count` creates, `clients` at a time, then lone ones. One in 40 has a name that the database rejects. */
async function load(url: string, count: number, clients = 40): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < count) {
      const id = String(++next);
      const name = next % 40 === 0 ? 'bad' : 'Rosa canina';
      const body = `{"id":${id},"name":"${name}"}`;
      const response = await fetch(`${url}/plants`, { method: 'POST', headers: { ...headers, id }, body });
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  if (clients > 1) await load(url, 10, 1);
}

describe.each(named(mounts))('a batch on %s', (_, { start }) => {
  it('runs in the AsyncLocalStorage of a create that is in it, if it is slow, rolled back, rejected or retried', async () => {
    const requests = new AsyncLocalStorage<string>();
    let checks = 0;
    const strays: string[] = [];
    let calls = 0;
    const storage = groupCommit<true>(async (plants) => {
      const ids = plants.map(({ id }) => String(id));
      const check = () => {
        checks++;
        const id = requests.getStore();
        if (!id || !ids.includes(id)) strays.push(`${id} in ${ids}`);
      };
      const kind = calls++ % 7;
      for (let i = 0; i < 4; i++) {
        check();
        await turn();
      }
      if (kind === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      check();
      if (kind === 2) throw new RolledBack('together', new Error('deadlock'));
      if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', new Error('a CHECK'));
      return plants.map(() => 'created' as const);
    });
    const handle = createPlantStore(storage, acceptTokens('secret'), { onError() {} });
    const running = await start(handle, (id, task) => requests.run(id, task));
    onTestFinished(() => running.close());
    while (checks < 2_500) await load(running.url, 400);
    expect(strays).toEqual([]);
  }, 60_000);
});

it("a driver's OpenTelemetry span has a parent in its batch, and ends before that", async () => {
  const exporter = new InMemorySpanExporter();
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('test');
  onTestFinished(() => {
    context.disable();
    manager.disable();
  });
  const spans = new Map<string, Span>();
  const parents: boolean[] = [];
  const storage = groupCommit<true>((plants) =>
    tracer.startActiveSpan('INSERT', async (span) => {
      const parent = (span as unknown as { parentSpanContext?: { spanId: string } }).parentSpanContext
        ?.spanId;
      parents.push(plants.some(({ id }) => spans.get(String(id))?.spanContext().spanId === parent));
      for (let i = 0; i < 3; i++) await turn();
      parents.push(trace.getActiveSpan() === span);
      span.end();
      return plants.map(() => 'created' as const);
    }),
  );
  const handle = createPlantStore(storage, acceptTokens('secret'), { onError() {} });
  const traced: PlantHandler = (request) =>
    tracer.startActiveSpan('POST /plants', async (span) => {
      spans.set((request.headers as { id: string }).id, span);
      const response = await handle(request);
      span.end();
      return response;
    });
  const running = await listen(createServer(toNode(traced)));
  onTestFinished(() => running.close());
  await load(running.url, 400);
  expect(parents.length).toBeGreaterThan(20);
  expect(parents.every(Boolean)).toBe(true);
  const finished = exporter.getFinishedSpans();
  const inserts = finished.filter(({ name }) => name === 'INSERT');
  for (const insert of inserts) {
    const parent = finished.findIndex(
      (span) => span.spanContext().spanId === insert.parentSpanContext?.spanId,
    );
    expect(parent).toBeGreaterThan(finished.indexOf(insert));
  }
}, 60_000);
