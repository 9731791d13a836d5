import type { PlantHandler, PlantResponse } from '../../src/index.js';
import { answerMistake, checkHandler } from '../../src/misuse.js';
import { Refusal } from '../../src/problems.js';
import { drain } from './_node/drain.js';
import { askAgain, type Place } from './_node/mount.js';
import { afterParsing, isForTheApp, toPlantRequest } from './_node/request.js';
import type { NodeRequest, NodeResponse, ParsedBody } from './_node/types.js';

export type { NodeRequest, NodeResponse } from './_node/types.js';

/**
 * Mounts the handler where `(request, response, next?)` is spoken: `node:http`, `node:https`, `node:http2`, Connect,
 * Polka and, as `toExpress`, Express. With a `next`, whatever is not `POST <mount>/plants` is handed on, its body unread.
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
): (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => void {
  checkHandler(handle, rest);
  const middleware: ReturnType<typeof toNode> = (request, response, next) => {
    if (!request.rawHeaders) return void answerMistake(request, response);
    afterParsing(request, async (wasFlowing) => {
      try {
        const make = (url?: string) => toPlantRequest(request, response, request as ParsedBody, request, url);
        let answer = await handle(make());
        if (answer.status === 404) {
          const place = placeOf(request, middleware);
          answer = (await askAgain(handle, place, response, make)) ?? answer;
        }
        if (next && isForTheApp(answer)) return handOn(request, wasFlowing, next);
        const unread = drain(request, response);
        if (unread) await unread;
        send(answer, response);
      } catch (error) {
        // nextTick, here and below: what the app throws in `next` must be the app's error, not a rejection of ours.
        if (next) nextTick(next, error);
        else fail(error, response);
      }
    });
  };
  return middleware;
}

/** What Express adds to a request. */
interface ExpressRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly path: unknown; readonly stack?: readonly { readonly handle: unknown }[] };
}

function placeOf(request: NodeRequest & ExpressRequest, middleware: unknown): Place {
  const { method, url = '', originalUrl = url, baseUrl: mount, route } = request;
  // Express leaves a route that was passed on its requests; other hosts mean something else by `route`.
  const isOurs = route?.stack?.some?.(({ handle }) => handle === middleware);
  return { method, url, originalUrl, mount, route: isOurs ? route?.path : undefined };
}

const { nextTick } = process;

function handOn(request: NodeRequest, wasFlowing: boolean, next: () => void): void {
  nextTick(next);
  // After `next`, so that the app can listen first.
  if (wasFlowing) nextTick(() => request.resume());
}

function send({ status, headers, body }: PlantResponse, response: NodeResponse): void {
  // Another middleware, such as a timeout, may have answered.
  if (response.headersSent || response.writableEnded) return;
  // Copied in a loop: a spread in a literal makes a slow object in V8 (2 µs a request).
  const sent: Record<string, string | number> = {};
  for (const name in headers) sent[name] = headers[name] as string;
  if (body) sent['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, sent);
  response.end(body);
}

/** `handle` never rejects, but a wrapper of it may; and `writeHead` throws if the headers do not go together. */
function fail(error: unknown, response: NodeResponse): void {
  console.error(error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  send(new Refusal('internal_error').toResponse(), response);
}
