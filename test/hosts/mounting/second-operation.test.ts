// "Where to touch" in CONTRIBUTING.md: a second operation is a few lines of the core, and no adapter changes.
import { createServer, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import { acceptTokens, type NewPlant, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { expect, onTestFinished, test } from 'vitest';
import { bearerToken, callerOf } from '../../../src/bearer.js';
import { Context } from '../../../src/context.js';
import { pathOf } from '../../../src/http.js';
import { checkOptions, plantStoreRules } from '../../../src/options.js';
import { storageParty, verifier } from '../../../src/parties.js';
import { handlerOf, type Operation } from '../../../src/plant-store.js';
import { notFound } from '../../../src/problems.js';
import { listen } from '../../support/sockets.js';

const storage = memoryStorage(new Map<bigint, NewPlant>([[7n, { id: 7n, name: 'Rosa canina' }]]));
const verifyToken = acceptTokens('secret');

const find: Operation = async (request, progress) => {
  try {
    const id = /^\/plants\/(\d+)$/.exec(pathOf(request.url))?.[1];
    if (!id || request.method !== 'GET') throw notFound('/plants');
    const context = new Context<true>(request, progress.deadline);
    const token = bearerToken(request.headers);
    progress.enter(verifier);
    context.caller = callerOf(await verifyToken(token, context));
    progress.enter(storageParty);
    const plant = await storage.find?.(BigInt(id), context);
    progress.respond({ status: 200, headers: {}, body: String(plant?.name) });
  } catch (thrown) {
    progress.refuse(thrown);
  }
};
const handle = handlerOf(find, checkOptions({}, plantStoreRules));

const hosts: Record<string, (handle: PlantHandler) => RequestListener | Promise<RequestListener>> = {
  node: (handle) => {
    const middleware = toNode(handle);
    return (request, response) => middleware(request, response, () => response.writeHead(418).end());
  },
  Express: (handle) =>
    express()
      .use(toExpress(handle))
      .use((_request, response) => void response.sendStatus(418)) as RequestListener,
  Koa: (handle) => {
    const app = new Koa().use(toKoa(handle)).use((context) => {
      context.status = 418;
    });
    return app.callback() as RequestListener;
  },
  Fastify: async (handle) => {
    const app = Fastify().setNotFoundHandler((_request, reply) => reply.code(418).send());
    app.get('/plants/*', toFastify(handle));
    await app.ready();
    return app.routing as unknown as RequestListener;
  },
  fetch: (handle) => {
    const fetch = toFetch(handle);
    return getRequestListener(async (request) => {
      const response = (await fetch(request)) as Response;
      return response.status === 404 ? new Response('', { status: 418 }) : response;
    }) as RequestListener;
  },
};

test.each(Object.entries(hosts))('%s mounts another operation as it is', async (_host, make) => {
  const { url, close } = await listen(createServer(await make(handle)));
  onTestFinished(close);
  const get = async (path: string, authorization = 'Bearer secret') => {
    const response = await fetch(url + path, { headers: { authorization } });
    return [response.status, await response.text()];
  };
  expect(await get('/plants/7')).toEqual([200, 'Rosa canina']);
  expect(await get('/plants/7', 'Bearer wrong')).toMatchObject([401, expect.stringContaining('40102')]);
  expect((await get('/plants/rose'))[0]).toBe(418);
});
