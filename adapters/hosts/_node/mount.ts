import { isPath, operation, pathOf } from '../../../src/for-hosts.js';
import type { PlantHandler } from '../../../src/index.js';
import type { Exchange, Place } from './exchange.js';
import type { NodePlantRequest } from './request.js';

/** Where a path ends in the operation's path. */
const end = /* @__PURE__ */ new RegExp(`${operation.path}/?$`);
/** The same in any letter case, which the routers of Express and Koa ignore. */
const routedEnd = /* @__PURE__ */ new RegExp(end.source, 'i');

/**
 * After a 40401, retries with every other path that this mount point may stand for. So `app.use('/api/plants', …)` and
 * `app.post('/api/plants', …)` work as `app.use('/api', …)` does, and so does a `basePath` in addition to a mount path.
 *
 * @returns the first response that is not a 40401; `undefined` if there is none: the request then falls through to the
 *   app, with a warning if the app responds 404 too
 */
export async function retryOtherTargets(
  handle: PlantHandler,
  plantRequest: NodePlantRequest,
  exchange: Exchange,
  place: Place,
) {
  const path = pathOf(place.originalUrl);
  const rest = pathOf(place.url);
  if (exchange.request.method !== operation.method || !routedEnd.test(path)) return undefined;
  for (const target of otherTargets(path, rest, place)) {
    Object.assign(plantRequest, target);
    const response = await handle(plantRequest);
    if (response.error !== 40401) return response;
  }
  if (end.test(path)) warnIfLost(handle, exchange, path, rest);
  return undefined;
}

/** Only what the app did pass to this middleware: the mount path itself, or the route that it handles. */
function otherTargets(path: string, rest: string, { mount, route }: Place): Partial<NodePlantRequest>[] {
  const targets: Partial<NodePlantRequest>[] = [];
  const below = rest === '/' ? '' : rest;
  // Not if the app has rewritten the target: then it means another path than the client.
  if (typeof mount === 'string' && mount !== '' && end.test(path) && path.endsWith(mount + below)) {
    targets.push({ url: path });
    // Otherwise the mount path has nothing of the operation's path.
    if (below.length < operation.path.length) targets.push({ url: operation.path });
  }
  // The router has matched the path, by the app's own rules on letter case and slashes.
  if (routedEnd.test(rest) && isRouteOfOperation(route, rest)) targets.push({ routed: true });
  return targets;
}

/** Whether a route's pattern, or the one of a list of patterns that matches `path`, ends in the operation's path. */
function isRouteOfOperation(route: unknown, path: string): boolean {
  const patterns = [route].flat();
  return patterns.some((pattern) => {
    if (pattern instanceof RegExp)
      return end.test(pattern.source.replace(/[\\?$]/g, '')) && path.search(pattern) >= 0;
    if (typeof pattern !== 'string' || !routedEnd.test(pattern)) return false;
    return patterns.length === 1 || mayMatch(pattern, path);
  });
}

/** Whether a pattern of a list matches `path`. What else it may hold, such as wildcards, is the router's own language. */
function mayMatch(pattern: string, path: string): boolean {
  const expression = pattern.replace(/:\w+/g, '[^/]+').replace(/\/$/, '');
  return /[^\w./:~-]/.test(pattern) || new RegExp(`^${expression}/?$`, 'i').test(path);
}

const warned = new WeakSet<PlantHandler>();

/**
 * Warns once per handler if the app responds 404 too. Skips paths that no `basePath` can express, or that are long: clients
 * may send anything, and must not use up the one warning.
 */
function warnIfLost(handle: PlantHandler, exchange: Exchange, path: string, rest: string): void {
  if (!isPath(path) || path.length > 100) return;
  const { request, response } = exchange;
  response.on('finish', () => {
    if (response.statusCode !== 404 || warned.has(handle)) return;
    warned.add(handle);
    const advice = end.test(rest)
      ? `set basePath to '${rest.replace(end, '')}'`
      : `mount it at '${path.replace(end, '') || '/'}'`;
    process.emitWarning(
      `${request.method} ${path} was not handled by plant-store and got a 404. If it should be, ${advice}.`,
      { code: 'PLANT_STORE_MOUNT' },
    );
  });
}
