import { toNode } from './node.js';

export { type NodeRequest, type NodeResponse, toRoute } from './node.js';

/**
 * Mounts the handler in an Express 4 or 5 app, at its root, under a path or in a router: `toNode` under Express's name. Every other
 * request falls through to the app, its body unread. For the handler of a route, use `toRoute`.
 *
 * Mount it before `express.json()`. After it, the parser has rounded an id beyond 2^53, unless it keeps `rawBody`.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { acceptTokens, createPlantStore } from 'plant-store';
 * import { toExpress } from 'plant-store/express';
 * import { memoryStorage } from 'plant-store/memory';
 *
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * express().use('/api', toExpress(handle)).listen(3000); // POST /api/plants
 * ```
 */
export const toExpress: (...args: Parameters<typeof toNode>) => ReturnType<typeof toNode> = toNode;
