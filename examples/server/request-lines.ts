// A line in the terminal for each request that the demo server has served: method, path, status, error code, time.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { PlantHandler } from 'plant-store';
import { printable } from './printable.js';

/** Prints a line for each request of a server, once its response is sent or its client has disconnected. */
export class RequestLines {
  readonly #print: (line: string) => void;
  /** The error codes of plant-store, by Node's requests. */
  readonly #codes = new WeakMap<object, number>();

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Notes the error code of each response. */
  noting(handle: PlantHandler): PlantHandler {
    return async (request) => {
      const response = await handle(request);
      if (response.error) this.#codes.set(request.raw as IncomingMessage, response.error);
      return response;
    };
  }

  listen(server: Server): void {
    for (const event of ['request', 'checkContinue', 'checkExpectation'])
      server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
        const start = performance.now();
        response.on('close', () => this.#print(this.#line(request, response, performance.now() - start)));
      });
  }

  #line(request: IncomingMessage, response: ServerResponse, ms: number): string {
    // Neither a query nor an authority: either may hold a secret.
    const path = (request.url ?? '').replace(/^\w+:\/\/[^/?#]*/, '').replace(/[?#].*/s, '');
    const { statusCode, writableFinished } = response;
    // What the demo server rejects by itself has the status and two zeros.
    const code = this.#codes.get(request) ?? (statusCode >= 400 ? statusCode * 100 : undefined);
    const outcome = writableFinished ? [statusCode, code] : ['disconnected'];
    return [request.method, printable(path), ...outcome, `${ms.toFixed(1)} ms`]
      .filter((part) => part !== undefined)
      .join(' ');
  }
}
