/** The rows of `test/hosts/hosts.ts` for frameworks that mount `toNode`, `toExpress`, `toFastify` or `toFetch` as they are. */
import { createServer as createHttp } from 'node:http';
import { toExpress, toRoute } from 'plant-store/express';
import { toFastify } from 'plant-store/fastify';
import { toFetch } from 'plant-store/fetch';
import { toNode } from 'plant-store/node';
import { type Host, honoHosts, hosts, type Start, theApp } from '../hosts/hosts.js';
import { type Any, load } from '../support/installed.js';
import { listen } from '../support/sockets.js';

const { default: connect } = await load('connect');
const { default: polka } = await load('polka');
const { default: Hapi } = await load('@hapi/hapi');
const { All, Controller, HttpCode, Module, RequestMethod } = await load('@nestjs/common');
const { NestFactory } = await load('@nestjs/core');
const { FastifyAdapter } = await load('@nestjs/platform-fastify');
const { createRequestListener } = await load('@remix-run/node-fetch-server');
const { getRequest, setResponse } = await load('@sveltejs/kit/node');
const { createServerAdapter } = await load('@whatwg-node/server');

/** A Nest app that answers everything. Its decorators are called as functions: the syntax needs a compiler option. */
class NestModule {}
class RestOfTheApp {
  answer(): string {
    return theApp.text;
  }
}
const described = Object.getOwnPropertyDescriptor(RestOfTheApp.prototype, 'answer')!;
All('*rest')(RestOfTheApp.prototype, 'answer', described);
HttpCode(theApp.status)(RestOfTheApp.prototype, 'answer', described);
Controller()(RestOfTheApp);
Module({ controllers: [RestOfTheApp] })(NestModule);
class EmptyNestModule {}
Module({})(EmptyNestModule);

const restOfTheApp = (_request: Any, response: Any) => response.writeHead(theApp.status).end(theApp.text);

export const frameworks: readonly Host[] = [
  {
    name: 'whatwg-node, as in GraphQL Yoga',
    start: (handle) => listen(createHttp(createServerAdapter(toFetch(handle)))),
  },
  { name: "Remix' server", start: (handle) => listen(createHttp(createRequestListener(toFetch(handle)))) },
  {
    name: "SvelteKit's adapter for Node",
    start: (handle) => {
      const fetch = toFetch(handle);
      return listen(
        createHttp(async (request, response) => {
          const answer = await fetch(await getRequest({ request, base: 'http://localhost' }));
          setResponse(response, answer as Response);
        }),
      );
    },
  },
  {
    name: 'Connect',
    others: 'the app',
    start: (handle) =>
      listen(createHttp(connect().use('/api', toNode(handle)).use(restOfTheApp)), 'http:', '/api'),
  },
  {
    name: 'Polka',
    others: 'the app',
    // Polka calls the middleware of a path after all that is for every path.
    start: (handle) =>
      listen(
        createHttp(polka({ onNoMatch: restOfTheApp }).use('/api', toNode(handle)).handler),
        'http:',
        '/api',
      ),
  },
  {
    name: 'Hapi',
    basePath: '/api',
    others: 'the app',
    start: async (handle) => {
      const plants = toNode(handle);
      const app = Hapi.server();
      app.ext('onRequest', ({ raw }: Any, h: Any) => {
        return new Promise((resolve) => {
          raw.res.once('close', () => resolve(h.abandon));
          plants(raw.req, raw.res, () => resolve(h.continue));
        });
      });
      app.ext('onPreResponse', (_request: Any, h: Any) => h.response(theApp.text).code(theApp.status));
      await app.initialize();
      return listen(app.listener, 'http:', '/api');
    },
  },
  {
    name: 'NestJS on Fastify',
    others: 'the app',
    start: async (handle) => {
      const adapter = new FastifyAdapter();
      const app = await NestFactory.create(EmptyNestModule, adapter, {
        logger: false,
      });
      await app.register(toFastify(handle), { prefix: '/api' });
      app.useGlobalFilters({
        catch: (_error: Any, host: Any) =>
          adapter.reply(host.switchToHttp().getResponse(), theApp.text, theApp.status),
      });
      await app.init();
      await adapter.getInstance().ready();
      return listen(app.getHttpServer(), 'http:', '/api');
    },
  },
  ...[{ rawBody: false }, { rawBody: true }].map(
    (options): Host => ({
      name: `NestJS${options.rawBody ? ' with rawBody' : ''}`,
      others: 'the app',
      start: async (handle) => {
        const app = await NestFactory.create(NestModule, { ...options, logger: false });
        app.use('/api', toExpress(handle));
        await app.init();
        return listen(app.getHttpServer(), 'http:', '/api');
      },
    }),
  ),
];

/** With those that have an adapter. */
export const everyHost: readonly Host[] = [...hosts, ...honoHosts, ...frameworks];

/** Nest mounts a module's middleware below its body parser. For one method, because `app.use` would strip the path. */
export const onNest =
  (path: string, options: { rawBody?: boolean } = {}): Start =>
  async (handle) => {
    class Plants {
      configure(consumer: Any) {
        consumer.apply(toRoute(handle)).forRoutes({ path, method: RequestMethod.POST });
      }
    }
    Module({})(Plants);
    const app = await NestFactory.create(Plants, { ...options, logger: false });
    await app.init();
    return listen(app.getHttpServer());
  };
