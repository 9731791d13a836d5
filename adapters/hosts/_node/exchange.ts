import type { NodeRequest, NodeResponse } from './types.js';

/**
 * A request and its response, as the host presents them. A class, not a literal: V8 may decide early that the objects of
 * a literal live long, and make all later ones in its old space. There each keeps its request alive until the next major
 * collection, and a request costs half as much again.
 */
export class Exchange {
  /** Whether the whole body was read, even if Node has not parsed the end of the message. */
  isRead = false;

  constructor(
    readonly request: NodeRequest,
    readonly response: NodeResponse,
    /** The host's own request, which may be made of Node's. */
    readonly raw: unknown,
    /** Where body parsers leave `body` and `rawBody`. */
    readonly parsed: object,
  ) {}
}

/** Where a request was sent, and where the app has mounted the middleware that got it. */
export interface Place {
  /** The request's target, as the middleware sees it. */
  readonly url: string;
  /** The request's target, as the client sent it. */
  readonly originalUrl: string;
  /** What the host has removed from the front of `originalUrl`. */
  readonly mount: unknown;
  /** The pattern of the route whose handler the middleware is, or a list of them. */
  readonly route?: unknown;
  /** Whether the host's router has matched the operation's own route. */
  readonly isRouted?: boolean;
}
