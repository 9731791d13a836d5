import { WithSignal } from '../../../src/context.js';
import type { PlantRequest, PlantResponse, ReadBody, Signal } from '../../../src/index.js';
import { readNodeBody } from './body.js';
import type { NodeRequest, NodeResponse, ParsedBody } from './types.js';

// Kept from when this module loads, because an app's tests may put fake timers in their place.
const { setImmediate } = globalThis;

/**
 * Waits one event-loop turn for a POST whose body is not complete. Usually Node has parsed all of it by then, and one
 * `read()` takes it, without listeners, promise or timer. Gain: a quarter of `toNode`'s cost.
 *
 * A body that flows already, because a middleware in front listens to it, would be lost by then: it is paused. `proceed`
 * is told, because the app must find it flowing again if it gets the request.
 */
export function afterParsing(request: NodeRequest, proceed: (wasFlowing: boolean) => void): void {
  const isPost = request.method === 'POST';
  const wasFlowing = isPost && request.readableFlowing === true;
  if (wasFlowing) request.pause();
  if (isPost && request.complete === false) setImmediate(proceed, wasFlowing);
  else proceed(wasFlowing);
}

/** Whether the app should answer: another path or method. */
export function isForTheApp({ status }: PlantResponse): boolean {
  return status === 404 || status === 405;
}

/** A Node request as the handler takes it. */
export function toPlantRequest(
  request: NodeRequest,
  response: NodeResponse,
  parsed: ParsedBody,
  raw: unknown = request,
  url = request.url!,
): PlantRequest {
  return new NodePlantRequest(request, response, parsed, raw, url);
}

class NodePlantRequest extends WithSignal implements PlantRequest {
  readonly method: string;
  readonly headers: PlantRequest['headers'];
  readonly body: ReadBody;
  readonly #response: NodeResponse;
  #signal: Signal | undefined;

  constructor(
    request: NodeRequest,
    response: NodeResponse,
    parsed: ParsedBody,
    readonly raw: unknown,
    readonly url: string,
  ) {
    super();
    this.method = request.method!;
    this.headers = headersOf(request);
    this.body = (limit) => readNodeBody(request, response, parsed, limit);
    this.#response = response;
  }

  protected getSignal(): Signal {
    this.#signal ??= disconnectSignal(this.#response);
    return this.#signal;
  }
}

/** Node keeps only the first Authorization header. Restores all, so that the core can refuse two. */
function headersOf({ headers, rawHeaders }: NodeRequest): PlantRequest['headers'] {
  let authorization: string[] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      authorization ??= [];
      authorization.push(rawHeaders[i + 1] as string);
    }
  }
  return authorization && authorization.length > 1 ? { ...headers, authorization } : headers;
}

function disconnectSignal(response: NodeResponse): AbortSignal {
  const controller = new AbortController();
  const gone = () => {
    if (!response.writableEnded) controller.abort();
  };
  if (response.destroyed || response.stream?.destroyed) gone();
  else response.on('close', gone);
  return controller.signal;
}
