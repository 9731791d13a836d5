/**
 * A program: serves plants on each host, and prints every response to a few requests. `Object.prototype` gets members,
 * as legacy libraries add them, `before` plant-store is loaded or `after` it is mounted, or `never`.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAdaptorServer } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import mount from 'koa-mount';
import { raw } from '../../support/sockets.js';

const when = process.argv[2];

function inherited(object: object) {
  return object;
}

/** Functions, texts that could be read for an option or an error, and names that no header can have. */
function pollute(): void {
  const texts = [
    'message',
    'cause',
    'code',
    'basePath',
    'acceptReplays',
    'parsed',
    'id',
    'name',
    'tag',
    'repeated',
    // What a host, a router or a parser may have put on a request, and an app into options.
    ...['routed', 'body', 'rawBody', 'stream', 'matched', 'mountPath', 'route', 'baseUrl', 'raw'],
    ...[
      'requestIP',
      'remoteAddr',
      'incoming',
      'table',
      'columns',
      'names',
      'namespace',
      'find',
      'status',
      'watch',
    ],
  ];
  const members = {
    ...{ extend: inherited, each: inherited, clone: inherited },
    ...Object.fromEntries(texts.map((name) => [name, `an inherited ${name}`])),
    params: { id: 'an inherited id' },
    // Node's own modules cannot be loaded with it.
    ...(when === 'after' && { get: inherited }),
    ...{ 'a name': 'of two words', 'a\r\nb': 'of two lines', é: inherited },
  };
  Object.assign(Object.prototype, members);
}

if (when === 'before') pollute();
const { acceptTokens, createPlantStore, guard, json } = await import('plant-store');
const { memoryStorage } = await import('plant-store/memory');
const { toExpress } = await import('plant-store/express');
const { toFastify } = await import('plant-store/fastify');
const { toFetch, toRoute: toFetchRoute } = await import('plant-store/fetch');
const { toKoa, toRoute: toKoaRoute } = await import('plant-store/koa');
const { toNode, toRoute } = await import('plant-store/node');
const { schemaOf } = await import('plant-store/sqlite');

console.log(schemaOf());
const handle = () => createPlantStore(memoryStorage(), acceptTokens('good'), { acceptReplays: true });
const showId = () => guard(acceptTokens('good'), ({ params }) => json(200, { id: params?.id }));
const refuse: express.ErrorRequestHandler = (_error, _request, response, _next) =>
  void response.sendStatus(400);
const app = fastify();
await app.register(toFastify(handle())).ready();
const hosts: Record<string, Server> = {
  node: createServer(toNode(handle())),
  express: createServer(express().use(toExpress(handle()))),
  'express.json()': createServer(express().use(express.json(), toExpress(handle()), refuse)),
  koa: createServer(new Koa().use(toKoa(handle())).callback()),
  fastify: app.server,
  fetch: createAdaptorServer({ fetch: toFetch(handle()) }) as Server,
  'a guard on node': createServer(toRoute(showId())),
  'a guard on koa': createServer(new Koa().use(mount('/plants', toKoaRoute(showId()))).callback()),
  'a guard on fetch': createAdaptorServer({ fetch: toFetchRoute(showId()) }) as Server,
};
for (const server of Object.values(hosts)) await once(server.listen(0, '127.0.0.1'), 'listening');
if (when === 'after') pollute();

const authorized = ['Authorization: Bearer good', 'Content-Type: application/json'];
const requests: readonly [headers: readonly string[], body: string, path?: string][] = [
  [authorized, '{"id":1,"name":"Rosa"}', '/elsewhere'],
  [authorized, ''],
  [authorized, '{"id":1,"name":"Rosa"}'],
  // A replay.
  [authorized, '{"id":1,"name":"Rosa"}'],
  [authorized, '{"id":1,"name":"Ilex"}'],
  [authorized, '{"extra":{},"id":1e1,"name":"Rosa","tag":"shrub"}'],
  [authorized, '\n{"name":"Rosa","id":2}'],
  [authorized, '{}'],
  [authorized, '{"id":"1"}'],
  [authorized, '{'],
  [['Content-Type: application/json'], '{}'],
  [['Authorization: Bearer bad', 'Content-Type: application/json'], '{}'],
  [['Authorization: Bearer good'], '{}'],
];
for (const [host, server] of Object.entries(hosts)) {
  for (const [headers, body, path = '/plants'] of requests) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(raw(['Connection: close', ...headers], body, { line: `POST ${path} HTTP/1.1` }));
    console.log(host, JSON.stringify((await text(socket)).replace(/^date:.*$/im, '')));
  }
}
// A request without a signal, whose storage reads that of its context. Node itself cannot bear an inherited one.
if (when !== 'never') Object.assign(Object.prototype, { signal: 'an inherited signal' });
const storage = {
  create: async (_: unknown, { signal }: { signal: { aborted: boolean } }) => {
    return signal.aborted ? ('taken' as const) : ('created' as const);
  },
};
const bare = {
  method: 'POST',
  url: '/plants',
  headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
};
const { status } = await createPlantStore(
  storage,
  acceptTokens('good'),
)({ ...bare, body: '{"id":1,"name":"Rosa"}' });
console.log('handle', status);
process.exit();
