import type { NodeRequest, NodeResponse } from './types.js';

/**
 * A request and its response, as the host presents them. A class, not a literal: V8 may decide early that the objects of
 * a literal live long, and make all later ones in its old space. There each keeps its request alive until the next major
 * collection, and a request costs half as much again.
 */
export class Exchange {
  /** Whether the whole body was read, even if Node has not parsed the end of the message. */
  isReadAhead = false;

  constructor(
    readonly request: NodeRequest,
    readonly response: NodeResponse,
    /** The host's own request, which may be made of Node's. */
    readonly raw: unknown = request,
    /** Where this host's body parsers leave `body` and `rawBody`. Others, and platforms, leave them on Node's request. */
    readonly bodyHolder: object = request,
  ) {}
}
