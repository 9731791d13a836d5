import { HostRequest } from '../../../src/for-hosts.js';
import type { PlantRequest, ReadBody, Signal } from '../../../src/index.js';
import { readNodeBody } from './body.js';
import type { Exchange } from './exchange.js';
import type { NodeRequest, NodeResponse } from './types.js';

/** A Node request as the handler takes it. */
export class NodePlantRequest extends HostRequest {
  readonly #exchange: Exchange;
  #signal: Signal | undefined;

  constructor(exchange: Exchange, url: string) {
    const { request, raw } = exchange;
    super(request.method!, url, headersOf(request), raw);
    this.#exchange = exchange;
  }

  /** `undefined` of a copy, or of a Proxy, which a logger reads. */
  get exchange(): Exchange {
    return #exchange in this ? this.#exchange : (undefined as never);
  }

  get body(): ReadBody {
    return (limit) => readNodeBody(this.#exchange, limit);
  }

  get signal(): Signal | undefined {
    if (!(#exchange in this)) return undefined;
    if (this.#signal) return this.#signal;
    const controller = new AbortController();
    const { request, response } = this.#exchange;
    if (isDisconnected(request, response)) controller.abort();
    else response.on('close', () => !response.writableEnded && controller.abort());
    this.#signal = controller.signal;
    return this.#signal;
  }
}

/**
 * Of these headers Node keeps only the first (https://nodejs.org/api/http.html#messageheaders). All are restored, so that the core can
 * refuse two.
 */
const singletons = ['authorization', 'content-type'];

function headersOf({ headers, rawHeaders = [] }: NodeRequest): PlantRequest['headers'] {
  let restored = headers;
  for (const name of singletons) {
    let count = 0;
    // Names and values in turn.
    for (let i = 0; i < rawHeaders.length; i += 2) if (isName(rawHeaders[i]!, name)) count++;
    if (count < 2) continue;
    const values = rawHeaders.filter((_value, i) => i % 2 && isName(rawHeaders[i - 1]!, name));
    restored = { ...restored, [name]: values };
  }
  return restored;
}

function isName(raw: string, name: string): boolean {
  return raw.length === name.length && raw.toLowerCase() === name;
}

/** Whether the client disconnected before its response was sent. Deno destroys the socket alone. */
function isDisconnected(
  { socket }: NodeRequest,
  { destroyed, stream, writableEnded }: NodeResponse,
): boolean {
  return !writableEnded && (destroyed || stream?.destroyed || socket?.destroyed) === true;
}
