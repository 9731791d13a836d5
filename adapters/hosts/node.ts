import { answerMistake, checkHandler, Refusal } from '../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../src/index.js';
import { answerOf } from './_node/answer.js';
import type { Exchange } from './_node/exchange.js';
import type { NodeRequest, NodeResponse } from './_node/types.js';

export type { NodeRequest, NodeResponse } from './_node/types.js';

// Kept from when this module loads, because an app's tests may fake it.
const { nextTick } = process;

/**
 * Mounts the handler where `(request, response, next?)` is spoken: `node:http`, `node:https`, `node:http2`, Connect,
 * Polka and, as `toExpress`, Express. With a `next`, every request but
 * `POST <mount>/plants` falls through to the app, its body unread.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { memoryStorage } from 'plant-store/memory';
 * import { toNode } from 'plant-store/node';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * createServer(toNode(handle)).listen(3000);
 * ```
 */
export function toNode(
  handle: PlantHandler,
  ...rest: undefined[]
): (request: NodeRequest, response: NodeResponse, next?: Next) => void {
  checkHandler(handle, rest);
  return function plantStore(request, response, next) {
    if (!request.method || typeof response?.writeHead !== 'function')
      return void answerMistake(request, response);
    serve(handle, new NodeExchange(request, response, next), next);
  };
}

type Next = (error?: unknown) => void;

async function serve(handle: PlantHandler, exchange: NodeExchange, next?: Next): Promise<void> {
  const { response } = exchange;
  try {
    const answer = await answerOf(handle, exchange, Boolean(next));
    if (answer) return send(answer, response);
  } catch (error) {
    return next ? passOn(next, error) : fail(error, response);
  }
  passOn(next!);
}

/** What the app throws in `next` is the app's error, not a rejection of our promise. */
function passOn(next: Next, ...error: unknown[]): void {
  try {
    next(...error);
  } catch (thrown) {
    nextTick(() => {
      throw thrown;
    });
  }
}

/** What Express adds to a request. */
interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly path: unknown; readonly stack?: unknown };
  readonly next?: unknown;
}

class NodeExchange implements Exchange {
  constructor(
    readonly request: ExpressRequest,
    readonly response: NodeResponse,
    readonly next: unknown,
  ) {}

  get raw() {
    return this.request;
  }

  get parsed() {
    return this.request;
  }

  get url() {
    return this.request.url ?? '';
  }

  get originalUrl() {
    return this.request.originalUrl ?? this.url;
  }

  get mount() {
    return this.request.baseUrl;
  }

  get route() {
    const { route, next } = this.request;
    // Express leaves a route that was passed on its requests. But what it gives to a route's handlers is the route's own
    // `next`, not the router's. To look for our middleware in the route would not do: agents and apps wrap handlers.
    return Array.isArray(route?.stack) && this.next !== next ? route.path : undefined;
  }
}

function send({ status, headers, body }: PlantResponse, response: NodeResponse): void {
  // Another middleware, such as a timeout, may have answered.
  if (response.headersSent || response.writableEnded) return;
  // Not by `writeHead`: where no other header is set, `getHeaders`, from which loggers read, would not have them.
  for (const name in headers) response.setHeader(name, headers[name]!);
  if (body) response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status);
  response.end(body);
}

/** `handle` never rejects, but a wrapper of it may; and `writeHead` throws if the headers do not go together. */
function fail(error: unknown, response: NodeResponse): void {
  console.error(error);
  if (response.headersSent) return void response.destroy();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  send(new Refusal('internal_error').toResponse(), response);
}
