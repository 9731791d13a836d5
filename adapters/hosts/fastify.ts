import type { PlantHandler } from '../../src/index.js';
import { drain } from './_node/drain.js';
import { afterParsing, isForTheApp, toPlantRequest } from './_node/request.js';
import type { NodeRequest, NodeResponse, ParsedBody } from './_node/types.js';

/** What is used of a Fastify request. */
export interface FastifyRequest {
  readonly raw: NodeRequest;
  readonly url: string;
}

/** What is used of a Fastify reply. */
export interface FastifyReply {
  readonly raw: NodeResponse;
  readonly sent: boolean;
  code(status: number): unknown;
  headers(headers: { [name: string]: string }): unknown;
  serializer(serialize: (body: unknown) => string): unknown;
  send(body: string): unknown;
  callNotFound(): unknown;
}

/** What is used of a Fastify instance. */
export interface FastifyInstance {
  route(options: {
    method: 'POST';
    url: string;
    onRequest: (request: FastifyRequest, reply: FastifyReply) => void;
    handler: () => void;
  }): unknown;
}

/**
 * Makes a Fastify 5 plugin with the route `POST <prefix>/plants`, on HTTP/1 and HTTP/2. It is an encapsulated plugin,
 * because one that skips that (fastify-plugin) also loses its prefix.
 *
 * It answers in the route's own `onRequest` hook, before Fastify parses: a parser would read before the token is
 * accepted, and answer a wrong Content-Type by itself. So the instance's `onRequest` hooks run first, and `onSend` and
 * `onResponse` ones after; its `preParsing`, `preValidation` and `preHandler` hooks do not run.
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
): (instance: FastifyInstance, options: unknown, done: () => void) => void {
  return function plantStore(instance, _options, done) {
    instance.route({
      method: 'POST',
      url: '/plants',
      // Not async: Fastify would go on as soon as the promise resolves, before `reply` is sent.
      onRequest(request, reply) {
        const { raw } = request;
        afterParsing(raw, () => {
          handle(toPlantRequest(raw, reply.raw, raw as ParsedBody, request, lastSegment(request.url))).then(
            (answer) => {
              if (reply.sent || reply.raw.headersSent) return;
              if (isForTheApp(answer)) {
                reply.callNotFound();
                return;
              }
              drain(raw, reply.raw);
              reply.code(answer.status);
              reply.headers(answer.headers);
              // Without a serializer of its own, Fastify adds a charset, which this media type does not have (RFC 8259 §11).
              reply.serializer(asIs);
              reply.send(answer.body);
            },
          );
        });
      },
      // Never called: `onRequest` has answered.
      handler() {},
    });
    done();
  };
}

const asIs = (body: unknown) => body as string;

/** The last path segment as the client wrote it: Fastify also routes `/%70lants` here. */
function lastSegment(url: string): string {
  const query = url.indexOf('?');
  return url.slice(url.lastIndexOf('/', query < 0 ? url.length : query));
}
