// The hosts follow the list of operations. The package has one; here it has a second one, with a parameter.
import Router from '@koa/router';
import express from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import mount from 'koa-mount';
import type { PlantHandler } from 'plant-store';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from '../../support/client.js';
import { onExpress, onFastify, onKoa, type Start } from '../hosts.js';

vi.mock('../../../src/http.js', async (original) => {
  const http = await original<typeof import('../../../src/http.js')>();
  const getPlant = { operationId: 'getPlant', method: 'GET', path: '/plants/{id}' };
  return { ...http, operations: [...http.operations, getPlant] };
});
vi.mock('../../../src/document/openapi.js', async (original) => {
  const { openapi } = await original<typeof import('../../../src/document/openapi.js')>();
  const get = { responses: { 200: { description: 'The plant' } } };
  const contract = openapi();
  return { openapi: () => ({ ...contract, paths: { ...contract.paths, '/plants/{id}': { get } } }) };
});

/** Responds with the target that it got, if that is an operation. */
const handle: PlantHandler = async ({ method, url }) => {
  const isMine = /^(POST \/plants|GET \/plants\/[^/?]+)(\?|$)/.test(`${method} ${url}`);
  return isMine
    ? { status: 200, headers: {}, body: `${method} ${url}` }
    : { status: 404, headers: {}, body: '', error: 40401 };
};

const routes = (plants: never) => new Router().post('/api/plants', plants).get('/api/plants/:id', plants);

describe.each<[string, Start]>([
  ['Express, at the parent', onExpress(express, (app, plants) => app.use('/api', plants))],
  ['Express, at the path', onExpress(express, (app, plants) => app.use('/api/plants', plants))],
  [
    'Express, by routes',
    onExpress(express, (app, plants) => app.post('/api/plants', plants).get('/api/plants/:id', plants)),
  ],
  [
    'Express, by regular expressions',
    onExpress(express, (app, plants) =>
      app.post(/^\/api\/plants$/, plants).get(/^\/api\/plants\/([\w%]+)$/, plants),
    ),
  ],
  ['koa-mount, at the parent', onKoa(Koa, (plants) => mount('/api', plants))],
  ['koa-mount, at the path', onKoa(Koa, (plants) => mount('/api/plants', plants))],
  ['@koa/router', onKoa(Koa, (plants) => routes(plants as never).routes() as unknown as Koa.Middleware)],
  ['Fastify, under the parent', onFastify(() => Fastify(), '/api')],
  ['Fastify, under the path', onFastify(() => Fastify(), '/api/plants')],
  [
    'Fastify, in any letter case',
    onFastify(() => Fastify({ routerOptions: { caseSensitive: false } }), '/API'),
  ],
])('a second operation on %s', (_name, start) => {
  test('gets its requests, and the app all others', async () => {
    const { url, close } = await start(handle, { own: () => ({ status: 404, body: 'the app' }) });
    onTestFinished(close);
    const client = clientOf(new URL(url).origin);
    onTestFinished(client.close);
    const responses: unknown[] = [];
    for (const [method, path] of [
      ['POST', '/api/plants'],
      ['GET', '/api/plants/7'],
      ['GET', '/api/plants/a%2Fb?x=1'],
      ['GET', '/api/plants'],
      ['GET', '/api/plants/7/8'],
      ['GET', '/api/trees/7'],
    ] as const) {
      const { status, text } = await client.send({ method, path, headers: {}, body: undefined });
      responses.push(status === 200 ? text.replace(/\?.*/, '') : status);
    }
    expect(responses).toEqual(['POST /plants', 'GET /plants/7', 'GET /plants/a%2Fb', 404, 404, 404]);
  });
});
