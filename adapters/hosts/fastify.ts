import { Readable } from 'node:stream';
import { checkHandler, checkOptions, operation, routeSchema } from '../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../src/index.js';
import { Exchange } from './_node/exchange.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';

/** The part of a Fastify request that this adapter uses. */
export interface FastifyRequest {
  readonly raw: NodeRequest;
  readonly url: string;
}

/** The part of a Fastify reply that this adapter uses. */
export interface FastifyReply {
  readonly raw: NodeResponse;
  readonly request: { readonly method: string };
  readonly sent: boolean;
  code(status: number): FastifyReply;
  headers(headers: { [name: string]: string }): FastifyReply;
  serializer(serialize: (body: unknown) => string): FastifyReply;
  send(body: unknown): unknown;
  callNotFound(): unknown;
}

/** The part of a Fastify instance that this adapter uses. */
export interface FastifyInstance {
  readonly prefix: string;
  addHook(
    name: 'onRoute',
    hook: (route: { onRequest?: unknown; validatorCompiler?: unknown }) => void,
  ): unknown;
  route(options: object): unknown;
}

/** Properties of the route in addition to the operation. */
export interface FastifyRouteOptions {
  /**
   * Members of the route's schema, in place of its own: `{ hide: true }` keeps the route out of the app's document,
   * `{ security: [{ bearer: [] }] }` names a security scheme that the app's document has.
   */
  readonly schema?: object | undefined;
  /** The route's `config`, for the app's own hooks. */
  readonly config?: object | undefined;
}

/**
 * Makes a Fastify 5 plugin with the route `POST <prefix>/plants`, on HTTP/1 and HTTP/2. It is an encapsulated plugin,
 * because one that skips that (fastify-plugin) also loses its prefix.
 *
 * The same function is a route's handler, for a `guard`: `app.get('/plants/:id', toFastify(getPlant))`. Fastify then parses
 * the body of a POST before the token is verified.
 *
 * It responds in the route's last `onRequest` hook, before Fastify parses: a parser would read before the token is
 * accepted, and reject a wrong Content-Type by itself. So all `onRequest` hooks run first, and `onSend`, `onResponse`,
 * `onError` and `onTimeout` ones as on any route; `preParsing`, `preValidation` and `preHandler` hooks do not run.
 *
 * The route's schema says to @fastify/swagger what the contract says: the body, and each response. It names no security
 * scheme, because @fastify/swagger throws if the app's document does not define it: give yours as `schema.security`.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import Fastify from 'fastify';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toFastify } from 'plant-store/fastify';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * await Fastify().register(toFastify(handle), { prefix: '/api' }).listen({ port: 3000 }); // POST /api/plants
 * ```
 */
export function toFastify(
  handle: PlantHandler,
  route: FastifyRouteOptions = {},
  ...rest: undefined[]
): FastifyMount {
  if (!checkHandler(handle, rest.length > 0 ? [route, ...rest] : [])) return () => {};
  const { schema, config } = checkOptions(route, { schema: objectRule, config: objectRule });
  const respond = (request: FastifyRequest, reply: FastifyReply, isRouted: boolean): void => {
    const { url, raw } = request;
    // Before the handler of another route, Fastify has parsed the body.
    const exchange = new Exchange(raw, reply.raw, request, isRouted ? raw : request);
    // Its promise is not returned: Fastify would go on as soon as it resolves, before `reply` is sent.
    respondTo(exchange, { url, originalUrl: url, mount: undefined, isRouted }, handle)
      .then((response) => send(response, reply))
      .catch((error) => reply.send(error))
      // A wrapped `reply` may always throw.
      .catch(() => reply.raw.destroy());
  };
  return function plantStore(first: FastifyInstance | FastifyRequest, second: unknown, done?: () => void) {
    if ('raw' in first) return respond(first, second as FastifyReply, false);
    const { method, path } = operation;
    // The schema is documentation only. Compiling it would cost time, and fail in an app whose compiler takes other schemas.
    const validatorCompiler = () => () => true;
    // Plugins, such as rate limiters, add hooks to the route in `onRoute`. Ours ends the chain, so it comes last.
    first.addHook('onRoute', (added) => {
      // Skip routes that other plugins add here, such as OPTIONS.
      if (added.validatorCompiler !== validatorCompiler) return;
      // The router has matched the path, by the app's rules on letter case, slashes and escapes.
      const hook = (request: FastifyRequest, reply: FastifyReply) => respond(request, reply, true);
      added.onRequest = [added.onRequest ?? [], hook].flat();
    });
    first.route({
      method,
      // The prefix may have the path already.
      url: new RegExp(`${path}/?$`).test(first.prefix) ? '' : path,
      config,
      schema: { ...routeSchema(), ...schema },
      validatorCompiler,
      serializerCompiler: () => identity,
      // Never called: `onRequest` has responded.
      handler() {},
    });
    done?.();
  };
}

/** A plugin, and the handler of a route. In this order: the host's own types infer from the last. */
export interface FastifyMount {
  (request: FastifyRequest, reply: FastifyReply): void;
  (instance: FastifyInstance, options: unknown, done: () => void): void;
}

const objectRule = [{}, (value: unknown) => Object(value) === value, 'an object'] as const;

function send(response: PlantResponse | undefined, reply: FastifyReply): void {
  // Another hook, such as a timeout, may have responded.
  if (reply.sent || reply.raw.headersSent) return;
  if (!response) return void reply.callNotFound();
  const { status, headers, body } = response;
  // To an empty text Fastify adds a media type, and for HEAD the length of nothing, which is not that of a GET's response.
  const content = body || (reply.request.method === 'HEAD' ? Readable.from([]) : undefined);
  // Without a serializer of its own, it adds a charset, which this media type does not have (RFC 8259 §11).
  reply.code(status).headers(headers).serializer(identity).send(content);
}

const identity = (body: unknown) => body as string;
