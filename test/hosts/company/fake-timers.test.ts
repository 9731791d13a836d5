/** An app's own tests may put fake timers in place of the real ones, as `jest.useFakeTimers()` does, and never move them. */
import { createServer } from 'node:http';
import express from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listen, type Running, raw, Wire } from '../../support/sockets.js';
import { json, rose, roseCreated, token } from '../node/server.js';

const apps: readonly { name: string; start: (handle: PlantHandler) => Promise<Running> }[] = [
  {
    name: 'Express',
    start: (handle) => {
      const app = express().use(toExpress(handle));
      app.use((_request, response) => void response.send('the app'));
      return listen(createServer(app));
    },
  },
  {
    name: 'Koa',
    start: (handle) => {
      const app = new Koa().use(toKoa(handle)).use((context) => {
        context.body = 'the app';
      });
      return listen(createServer(app.callback()));
    },
  },
  {
    name: 'Fastify',
    start: async (handle) => {
      const app = Fastify();
      app.register(toFastify(handle));
      app.get('/others', (_request, reply) => void reply.send('the app'));
      await app.ready();
      return listen(app.server);
    },
  },
];

test.each(apps)('with fake timers, creates, refusals and GETs are answered on $name', async ({ start }) => {
  const running = await start(createPlantStore(memoryStorage(), acceptTokens('good')));
  onTestFinished(running.close);
  const wire = await Wire.open(running.port);
  const closing = await Wire.open(running.port);
  onTestFinished(() => wire.destroy());
  vi.useFakeTimers({
    toFake: ['setImmediate', 'setTimeout', 'setInterval', 'clearTimeout', 'clearImmediate'],
  });
  // As in Jest, whose `process` is a copy: Node's own streams need the real one.
  vi.stubGlobal('process', Object.create(process, { nextTick: { value() {}, writable: true } }));
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  // The body comes in a packet of its own.
  await wire.write(raw([token, json, `Content-Length: ${rose.length}`]));
  await wire.write(rose);
  expect(await wire.answer()).toMatchObject(roseCreated);
  await wire.write(raw([], '', { line: 'GET /others HTTP/1.1' }));
  expect((await wire.answer()).text).toBe('the app');
  // Answered once it has made no progress for 500 ms.
  await closing.write(raw(['Connection: close', 'Content-Length: 1000']));
  expect((await closing.answer()).status).toBe(401);
});
