import { HostRequest } from '../../../src/for-hosts.js';
import type { PlantRequest, ReadBody, Signal } from '../../../src/index.js';
import { readNodeBody } from './body.js';
import type { Exchange } from './exchange.js';
import type { NodeRequest, NodeResponse } from './types.js';

/** A Node request as the handler takes it. */
export class NodePlantRequest extends HostRequest {
  readonly body: ReadBody;
  readonly #exchange: Exchange;
  #signal: Signal | undefined;

  constructor(exchange: Exchange, url: string) {
    const { request, raw } = exchange;
    super(request.method!, url, headersOf(request), raw);
    this.body = (limit) => readNodeBody(exchange, limit);
    this.#exchange = exchange;
  }

  getSignal(): Signal {
    if (this.#signal) return this.#signal;
    const controller = new AbortController();
    const { response } = this.#exchange;
    if (isDisconnected(response)) controller.abort();
    else response.on('close', () => !response.writableEnded && controller.abort());
    this.#signal = controller.signal;
    return this.#signal;
  }
}

/** Node keeps only the first Authorization header. Restores all, so that the core can refuse two. */
function headersOf({ headers, rawHeaders }: NodeRequest): PlantRequest['headers'] {
  const authorization: string[] = [];
  for (let i = 0; rawHeaders && i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 13 && name.toLowerCase() === 'authorization') authorization.push(rawHeaders[i + 1]!);
  }
  return authorization.length > 1 ? { ...headers, authorization } : headers;
}

/** Whether the client disconnected before its response was sent. */
function isDisconnected({ destroyed, stream, writableEnded }: NodeResponse): boolean {
  return !writableEnded && (destroyed || stream?.destroyed) === true;
}
