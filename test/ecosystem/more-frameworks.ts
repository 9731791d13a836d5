/** The rows of the page *More frameworks*, each in an app of its framework. The line that mounts plant-store is the page's. */
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import type { PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toRoute } from 'plant-store/fetch';
import { toKoa } from 'plant-store/koa';
import { toNode } from 'plant-store/node';
import { vi } from 'vitest';
import { type Host, theApp } from '../hosts/hosts.js';
import { type Any, load } from '../support/installed.js';
import { listen, type Running } from '../support/sockets.js';
import { evaluate, pageNotes, pageRows } from './page-rows.js';

export const heading = 'More frameworks';
const lines = pageRows(heading);
const notes = pageNotes(heading);

type Mount = (variables?: object) => Any;
type Build = (mount: Mount, handle: PlantHandler) => Running | Promise<Running>;

function restOfTheApp(_request: unknown, response: ServerResponse): void {
  response.statusCode = theApp.status;
  response.end(theApp.text);
}

/** A row of the page, by the beginning of its first column. */
function row(
  start: string,
  build: Build,
  more: Pick<Host, 'others' | 'quirks'> = { others: 'the app' },
): Host {
  const [name = '', line = ''] = [...lines].find(([name]) => name.startsWith(start)) ?? [];
  const isWhole = /basePath/.test(notes.get(name) ?? '');
  return {
    ...more,
    name,
    ...(isWhole && { basePath: '/api' }),
    start: async (handle) => {
      const scope = { handle, toExpress, toKoa, toNode, express, plants: toRoute(handle) };
      return build((variables) => evaluate(line, { ...scope, ...variables }), handle);
    },
  };
}

async function feathersOnExpress(mount: Mount): Promise<Running> {
  const { feathers } = await load('@feathersjs/feathers');
  const { default: express, json, rest } = await load('@feathersjs/express');
  const app = express(feathers());
  mount({ app });
  app.use(json()).configure(rest()).use(restOfTheApp);
  return listen(createHttp(app), 'http:', '/api');
}

async function feathersOnKoa(mount: Mount): Promise<Running> {
  const { feathers } = await load('@feathersjs/feathers');
  const { koa, bodyParser } = await load('@feathersjs/koa');
  const app = koa(feathers());
  app.silent = true;
  mount({ app });
  app.use(bodyParser()).use((context: Any) => {
    context.body = theApp.text;
    context.status = theApp.status;
  });
  return listen(createHttp(app.callback()), 'http:', '/api');
}

async function loopback(mount: Mount): Promise<Running> {
  const { RestApplication } = await load('@loopback/rest');
  const app = new RestApplication({ rest: { port: 0, host: '127.0.0.1', listenOnStart: false } });
  mount({ app });
  app.mountExpressRouter('/', express.Router().use(restOfTheApp));
  await app.start();
  return listen(createHttp(app.requestHandler), 'http:', '/api');
}

async function moleculer(mount: Mount): Promise<Running> {
  const { ServiceBroker } = (await load('moleculer')).default;
  const { default: ApiService } = await load('moleculer-web');
  const broker = new ServiceBroker({ logger: false });
  const { use, ...route } = mount();
  const settings = { server: false, routes: [{ ...route, use: [...use, restOfTheApp] }] };
  const service = broker.createService({ mixins: [ApiService], name: 'web', settings });
  await broker.start();
  const running = await listen(createHttp(service.express()), 'http:', '/api');
  return { ...running, close: () => running.close().finally(() => broker.stop()) };
}

async function restify(mount: Mount): Promise<Running> {
  const { default: restify } = await load('restify');
  const server = restify.createServer();
  mount({ server });
  server.use(restify.plugins.bodyParser());
  server.on('NotFound', (_request: Any, response: Any, _error: Any, next: Any) => {
    response.sendRaw(theApp.status, theApp.text);
    next();
  });
  return listen(server.server, 'http:', '/api');
}

async function trpc(mount: Mount): Promise<Running> {
  const { initTRPC } = await load('@trpc/server');
  const { createHTTPServer } = await load('@trpc/server/adapters/standalone');
  return listen(mount({ createHTTPServer, router: initTRPC.create().router({}) }), 'http:', '/api');
}

async function restana(mount: Mount): Promise<Running> {
  const { default: restana } = await load('restana');
  const app = restana({ defaultRoute: restOfTheApp });
  mount({ app });
  return listen(createHttp(app.handle), 'http:', '/api');
}

async function elysia(mount: Mount): Promise<Running> {
  const { Elysia } = await load('elysia');
  const { node } = await load('@elysiajs/node');
  const app = new Elysia({ adapter: node() });
  mount({ app });
  app.all('/*', () => new Response(theApp.text, { status: theApp.status }));
  const { node: listener } = await new Promise<Any>((resolve) => {
    app.listen({ port: 0, hostname: '127.0.0.1' }, resolve);
  });
  return listen(listener.server, 'http:', '/api');
}

/** @param mount registers a function that gets the whole path */
async function googleFunction(mount: Mount): Promise<Running> {
  const { http } = await load('@google-cloud/functions-framework');
  const { getTestServer } = await load('@google-cloud/functions-framework/testing');
  mount({ http });
  return listen(getTestServer('plants'));
}

/** Azure's own classes of a request and a response; what its runtime does between them and a socket is done here. */
async function azure(mount: Mount): Promise<Running> {
  const { HttpRequest, HttpResponse } = (await load('@azure/functions')).default;
  const app = { http: vi.fn() };
  mount({ app });
  const [[, { handler }]] = app.http.mock.calls as [[string, Any]];
  return listen(
    createHttp(async (request: IncomingMessage, response) => {
      if (request.method !== 'POST' || !/^\/api\/plants(\?|$)/.test(request.url!))
        return restOfTheApp(request, response);
      const { method, url, headers } = request;
      const init = { method, url: `http://localhost${url}`, headers, body: { bytes: await buffer(request) } };
      const { status, headers: fields, body } = new HttpResponse(await handler(new HttpRequest(init)));
      response.writeHead(status, Object.fromEntries(fields)).end(body && (await buffer(body)));
    }),
    'http:',
    '/api',
  );
}

async function sails(mount: Mount): Promise<Running> {
  const { Sails } = (await load('sails')).default;
  const app = new Sails();
  const hooks = { grunt: false, session: false, views: false, sockets: false, pubsub: false };
  await new Promise<void>((resolve, reject) => {
    const http = { middleware: mount() };
    const options = { globals: false, hooks, http, log: { level: 'silent' } };
    app.load(options, (error: unknown) => (error ? reject(error) : resolve()));
  });
  const running = await listen(app.hooks.http.server, 'http:', '/api');
  return { ...running, close: () => running.close().finally(() => app.lower(() => {})) };
}

/** It reads each body first. */
export const behindParser = row('functions-framework', googleFunction, {});

export const moreFrameworks: readonly Host[] = [
  row('Feathers 5.0.50, Express', feathersOnExpress),
  row('Feathers 5.0.50, Koa', feathersOnKoa),
  // Its own CORS responds.
  row('LoopBack', loopback, { others: 'the app', quirks: { 'method-options': 204 } }),
  row('Moleculer', moleculer),
  row('tRPC', trpc, { others: 'the framework' }),
  row('restana', restana),
  // Its router ignores a slash at the end.
  row('Elysia', elysia, { others: 'the app', quirks: { 'path-slash': 200 } }),
  row('Azure', azure),
  row('Sails', sails, { others: 'the framework' }),
  // The last, because it changes the prototypes of Node's requests and responses.
  row('Restify', restify),
];
