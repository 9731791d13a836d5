import { isPath, operations, pathOf } from '../../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../../src/index.js';
import type { Exchange, Place } from './exchange.js';
import { NodePlantRequest } from './request.js';

const [{ method, path: ownPath }] = operations;
const endsInOwnPath = /* @__PURE__ */ new RegExp(`${ownPath}/?$`);

/**
 * After a 40401, retries with every other path that this mount point may stand for. So `app.use('/api/plants', …)` and
 * `app.post('/api/plants', …)` work as `app.use('/api', …)` does, and so does a `basePath` in addition to a mount path.
 *
 * @returns the first response that is not a 40401; `undefined` if there is none: the request then falls through to the
 *   app, with a warning if the app responds 404 too
 */
export async function retryOtherTargets(
  handle: PlantHandler,
  exchange: Exchange,
  place: Place,
): Promise<PlantResponse | undefined> {
  const path = pathOf(place.originalUrl);
  const rest = pathOf(place.url);
  if (exchange.request.method !== method || !endsInOwnPath.test(path)) return undefined;
  for (const url of otherTargets(path, rest, place)) {
    const response = await handle(new NodePlantRequest(exchange, url));
    if (response.error !== 40401) return response;
  }
  warnIfLost(handle, path, rest, exchange);
  return undefined;
}

/** Only paths that the app did pass to this middleware: the mount path itself, or the route that it handles. */
function otherTargets(path: string, rest: string, { mount, route }: Place): string[] {
  // Not if the app has rewritten the target: then it means another path than the client.
  const isMounted =
    typeof mount === 'string' && mount !== '' && path.endsWith(mount + (rest === '/' ? '' : rest));
  const isRoute =
    endsInOwnPath.test(rest) && [route].flat().some((pattern) => matchesOperation(pattern, rest));
  return [...(isMounted ? [path] : []), ...((isMounted && rest === '/') || isRoute ? [ownPath] : [])];
}

/** Whether this pattern ends in `/plants` and matches `path`. */
function matchesOperation(pattern: unknown, path: string): boolean {
  if (pattern instanceof RegExp)
    return endsInOwnPath.test(pattern.source.replace(/[\\?$]/g, '')) && path.search(pattern) >= 0;
  if (typeof pattern !== 'string' || !endsInOwnPath.test(pattern)) return false;
  // Routers ignore letter case. What else a pattern may hold, such as wildcards, is the router's own language.
  const expression = pattern.replace(/:\w+/g, '[^/]+').replace(/\/$/, '/?');
  return /[^\w./:~-]/.test(pattern) || new RegExp(`^${expression}$`, 'i').test(path);
}

const warned = new WeakSet<PlantHandler>();

/**
 * Warns once per handler if the app responds 404 too. Skips paths that no `basePath` can express, or that are long: clients
 * may send anything, and must not use up the one warning.
 */
function warnIfLost(handle: PlantHandler, path: string, rest: string, { response }: Exchange): void {
  if (!isPath(path) || path.length > 100) return;
  response.on('finish', () => {
    if (response.statusCode !== 404 || warned.has(handle)) return;
    warned.add(handle);
    const advice = rest.endsWith(ownPath)
      ? `set basePath to '${rest.slice(0, -ownPath.length)}'`
      : `mount it at '${path.slice(0, -ownPath.length) || '/'}'`;
    process.emitWarning(
      `POST ${path} was not handled by plant-store and got a 404. If it should create a plant, ${advice}.`,
      { code: 'PLANT_STORE_MOUNT' },
    );
  });
}
