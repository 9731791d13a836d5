import type { NodeRequest, NodeResponse } from './types.js';

/**
 * A request and its response, as a host tells of them. Their names differ from host to host; each adapter translates.
 * A class, because V8 may decide early that the objects of a literal live long, and make all later ones in its old space.
 * There each keeps its request alive until the next major collection, and a request costs half as much again.
 */
export class Exchange {
  /**
   * @param raw the host's own request, which may be made of Node's
   * @param parsed where body parsers in front leave `body` and `rawBody`
   * @param url the request's target, as the middleware sees it
   * @param originalUrl the request's target, as the client sent it
   * @param mount what the host has taken from the front of it
   * @param route the pattern of the route whose handler the middleware is
   */
  constructor(
    readonly request: NodeRequest,
    readonly response: NodeResponse,
    readonly raw: unknown,
    readonly parsed: object,
    readonly url: string,
    readonly originalUrl: string,
    readonly mount: unknown,
    readonly route?: unknown,
  ) {}
}
