import { Readable } from 'node:stream';
import {
  checkHandler,
  checkOptions,
  isCreate,
  operation,
  propertyOf,
  routeSchema,
} from '../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../src/index.js';
import { Exchange } from './_node/exchange.js';
import { endsInOperation, MountWarning } from './_node/mount.js';
import { NodePlantRequest } from './_node/request.js';
import { respondTo } from './_node/respond.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';
import { wrongHost } from './_shared/wrong-host.js';

export type { NodeRequest, NodeResponse };

/** The part of a Fastify request that this adapter uses. */
export interface FastifyRequest {
  readonly raw: NodeRequest;
  readonly url: string;
  readonly params?: unknown;
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

/** What Fastify calls for each request of a route. */
export type FastifyHandler = (request: FastifyRequest, reply: FastifyReply) => void;

/** A plugin for `register`. */
export type FastifyMount = (instance: FastifyInstance, options: unknown, done: () => void) => void;

/**
 * Makes a Fastify plugin with the route `POST <prefix>/plants`, on HTTP/1 and HTTP/2. It is an encapsulated plugin, because one that
 * skips that (fastify-plugin) also loses its prefix. For a `guard`, use `toRoute`.
 *
 * It responds in the route's last `onRequest` hook, before Fastify parses: a parser would read before the token is accepted, and reject a
 * wrong Content-Type by itself. So all `onRequest` hooks run first, and `onSend`, `onResponse`, `onError` and `onTimeout` hooks run as on
 * any route; `preParsing`, `preValidation` and `preHandler` hooks do not run.
 *
 * The route's schema gives @fastify/swagger the contract: the body, and each response. It names no security scheme, because
 * @fastify/swagger throws if the app's document does not define it: give yours as `schema.security`.
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
  ..._none: undefined[]
): FastifyMount {
  checkHandler(handle);
  const { schema, config } = checkOptions(route, { schema: objectRule, config: objectRule });
  const warning = new MountWarning();
  return function plantStore(instance, _options, done) {
    // As the handler of a route, the plugin gets a request.
    if (propertyOf(instance, 'raw')) {
      warning.give(routeAdvice);
      throw new TypeError(routeAdvice);
    }
    warnOfPrefix(instance.prefix, warning);
    const { method, path } = operation;
    // The schema is documentation only. Compiling it would cost time, and fail in an app whose compiler takes other schemas.
    const validatorCompiler = () => () => true;
    // Plugins, such as rate limiters, add hooks to the route in `onRoute`. Ours ends the chain, so it comes last.
    instance.addHook('onRoute', (added) => {
      // Skip routes that other plugins add here, such as OPTIONS.
      if (added.validatorCompiler !== validatorCompiler) return;
      const hook: FastifyHandler = (request, reply) => respond(handle, request, reply, request.raw);
      added.onRequest = [added.onRequest ?? [], hook].flat();
    });
    instance.route({
      method,
      url: path,
      config,
      schema: { ...routeSchema(), ...schema },
      validatorCompiler,
      serializerCompiler: () => identity,
      // Of @fastify/response-validation, whose Ajv does not know the formats of OpenAPI.
      responseValidation: false,
      // Never called: `onRequest` has responded.
      handler() {},
    });
    done();
  };
}

/**
 * Makes the handler of a route of the app, for a `guard`: `app.get('/plants/:id', toRoute(getPlant))`. The guard gets the route's
 * parameters as `request.params`. Fastify parses the body of a POST before the token is verified, and rounds an id beyond 2^53, so mount
 * `POST /plants` itself by `toFastify`.
 *
 * @throws {TypeError} if it is given no handler, or the one of `createPlantStore`
 *
 * @example
 * ```ts
 * import Fastify from 'fastify';
 * import { acceptTokens, guard } from 'plant-store';
 * import { toRoute } from 'plant-store/fastify';
 *
 * const getPlant = guard(acceptTokens('secret'), ({ params }) => {
 *   const headers = { 'content-type': 'application/json' };
 *   return { status: 404, headers, body: JSON.stringify({ error: 1404, message: `No plant ${params?.id}.` }) };
 * });
 * await Fastify().get('/plants/:id', toRoute(getPlant)).listen({ port: 3000 });
 * ```
 */
export function toRoute(handle: PlantHandler, ..._none: undefined[]): FastifyHandler {
  checkHandler(handle);
  if (isCreate(handle)) throw new TypeError(pluginAdvice);
  return (request, reply) => {
    if (propertyOf(request, 'addHook')) return rejected(new TypeError(guardAdvice));
    if (!propertyOf(request, 'raw')) throw wrongHost(request);
    // Before the handler of a route, Fastify has parsed the body.
    respond(handle, request, reply, request);
  };
}

const routeAdvice =
  "toFastify(handle) is the handler of a route. For POST /api/plants, write app.register(toFastify(handle), { prefix: '/api' }).";

const pluginAdvice =
  "plant-store: toRoute of 'plant-store/fastify' is for a guard, because Fastify parses the body first, which rounds ids. For POST /api/plants, write app.register(toFastify(handle), { prefix: '/api' }).";

const guardAdvice =
  "plant-store: toRoute(getPlant) is the handler of a route. Write app.get('/plants/:id', toRoute(getPlant)), without register.";

/** As the plugin that it is taken for, it has no callback: Fastify hears of an error by a promise alone. */
const rejected = (error: TypeError) => Promise.reject(error) as never;

/** @param bodyHolder where body parsers have left `body` and `rawBody` */
function respond(
  handle: PlantHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  bodyHolder: object,
): void {
  const exchange = new Exchange(request.raw, reply.raw, request, bodyHolder);
  const plantRequest = new NodePlantRequest(exchange, request.url);
  // The router has matched the path, by the app's rules on letter case, slashes and escapes.
  plantRequest.setRoute(true, request.params);
  // Its promise is not returned: Fastify would go on as soon as it resolves, before `reply` is sent.
  const end = (response?: PlantResponse) => send(response, reply);
  respondTo(plantRequest, handle, end, end)
    .catch((error) => reply.send(error))
    // A wrapped `reply` may always throw.
    .catch(() => reply.raw.destroy());
}

function warnOfPrefix(prefix: string, warning: MountWarning): void {
  const mount = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  if (!endsInOperation(mount)) return;
  const parent = mount.slice(0, -operation.path.length);
  warning.give(
    `toFastify(handle) is registered with the prefix '${prefix}', and adds ${operation.path} to it. For POST ${mount}, write app.register(toFastify(handle), { prefix: '${parent}' }).`,
  );
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
