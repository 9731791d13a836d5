/** Servers of the same operation, each on its own port of 127.0.0.1. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { validator } from 'hono/validator';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import * as v from 'valibot';
import { type Answer, type BaselinePlants, create, type ParsedPlant, refuseHead, store } from './baseline.js';
import type { Contenders } from './child.js';
import { path, token } from './load.js';

const ours = () => createPlantStore(memoryStorage(), acceptTokens(token));

export const hosts: Contenders = {
  'by-hand': () => createServer(byHand),
  toNode: () => createServer(toNode(ours())),

  express() {
    const app = express();
    app.use(express.json());
    const plants: BaselinePlants = new Map();
    app.post(path, (request, response): void => {
      if (request.headers.authorization !== `Bearer ${token}`) {
        response.status(401).json({ error: 40101, message: 'invalid token' });
        return;
      }
      const { success, output } = v.safeParse(newPlant, request.body);
      if (!success || !store(plants, output)) {
        response.status(400).json({ error: 40002, message: 'bad plant' });
        return;
      }
      response.json({ name: output.name, tag: output.tag });
    });
    app.use(refuseJson);
    return createServer(app);
  },
  toExpress: () => createServer(express().use(toExpress(ours()))),

  hono() {
    const app = new Hono();
    const plants: BaselinePlants = new Map();
    app.post(path, bearerAuth({ token }), validPlant, (context) => {
      const plant = context.req.valid('json');
      if (!store(plants, plant)) return context.json({ error: 40003, message: 'the id is taken' }, 400);
      return context.json({ name: plant.name, tag: plant.tag });
    });
    return createAdaptorServer({ fetch: app.fetch }) as Server;
  },
  toHono() {
    const app = new Hono();
    const fetch = toFetch(ours());
    app.post(path, (context) => fetch(context.req.raw));
    return createAdaptorServer({ fetch: app.fetch }) as Server;
  },

  async fastify(): Promise<Server> {
    const app = fastify({ ajv: { customOptions: { coerceTypes: false } } });
    app.setErrorHandler<{ statusCode: number; message: string }>((error, _request, reply) =>
      reply.code(error.statusCode).send({ error: 40000, message: error.message }),
    );
    const plants: BaselinePlants = new Map();
    const text = { type: 'string' };
    const required = ['error', 'message'];
    app.post<{ Body: ParsedPlant }>(
      path,
      {
        schema: {
          body: {
            type: 'object',
            required: ['id', 'name'],
            properties: { id: { type: 'integer' }, name: text, tag: text },
          },
          response: {
            200: { type: 'object', required: ['name'], properties: { name: text, tag: text } },
            '4xx': { type: 'object', required, properties: { error: { type: 'integer' }, message: text } },
          },
        },
        async onRequest(request, reply) {
          if (request.headers.authorization === `Bearer ${token}`) return;
          return reply.code(401).send({ error: 40101, message: 'invalid token' });
        },
      },
      async ({ body }, reply) => {
        if (!store(plants, body)) return reply.code(400).send({ error: 40003, message: 'the id is taken' });
        return { name: body.name, tag: body.tag };
      },
    );
    await app.listen({ host: '127.0.0.1', port: 0 });
    return app.server;
  },
  async toFastify() {
    const app = fastify();
    app.register(toFastify(ours()));
    await app.listen({ host: '127.0.0.1', port: 0 });
    return app.server;
  },
};

const newPlant = v.object({
  id: v.pipe(v.number(), v.safeInteger()),
  name: v.string(),
  tag: v.optional(v.string()),
});

/** As Hono's documentation validates with a library of one's choice. */
const validPlant = validator('json', (value, context) => {
  const { success, output } = v.safeParse(newPlant, value);
  return success ? output : context.json({ error: 40002, message: 'bad plant' }, 400);
});

/** Otherwise Express responds to a body that is no JSON with a page and a stack trace. */
const refuseJson: express.ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(error.status).json({ error: 40001, message: 'not JSON' });
};

const plantsByHand: BaselinePlants = new Map();

/** The operation on `node:http` by hand. */
export function byHand(request: IncomingMessage, response: ServerResponse): void {
  const answer = ({ status, body }: Answer) => {
    const length = Buffer.byteLength(body);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': length });
    response.end(body);
  };
  const refusal = refuseHead(request.method, request.url, request.headers);
  if (refusal) {
    request.resume();
    answer(refusal);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(create(plantsByHand, Buffer.concat(chunks).toString())));
}
