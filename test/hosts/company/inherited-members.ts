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
  ];
  const members = {
    ...{ extend: inherited, each: inherited, clone: inherited },
    ...Object.fromEntries(texts.map((name) => [name, `an inherited ${name}`])),
    ...{ 'a name': 'of two words', 'a\r\nb': 'of two lines', é: inherited },
  };
  Object.assign(Object.prototype, members);
}

if (when === 'before') pollute();
const { acceptTokens, createPlantStore } = await import('plant-store');
const { memoryStorage } = await import('plant-store/memory');
const { toExpress } = await import('plant-store/express');
const { toFastify } = await import('plant-store/fastify');
const { toFetch } = await import('plant-store/fetch');
const { toKoa } = await import('plant-store/koa');
const { toNode } = await import('plant-store/node');

const handle = () => createPlantStore(memoryStorage(), acceptTokens('good'), { acceptReplays: true });
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
};
for (const server of Object.values(hosts)) await once(server.listen(0, '127.0.0.1'), 'listening');
if (when === 'after') pollute();

const authorized = ['Authorization: Bearer good', 'Content-Type: application/json'];
const requests: readonly [headers: readonly string[], body: string][] = [
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
  for (const [headers, body] of requests) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(raw(['Connection: close', ...headers], body));
    console.log(host, JSON.stringify((await text(socket)).replace(/^date:.*$/im, '')));
  }
}
process.exit();
