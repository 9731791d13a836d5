import { operation, pathOf, pathPattern } from '../../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../../src/index.js';
import type { Exchange } from './exchange.js';
import { NodePlantRequest } from './request.js';

const { method, path: ownPath } = operation;

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
): Promise<PlantResponse | undefined> {
  const path = pathOf(exchange.originalUrl);
  const rest = pathOf(exchange.url);
  if (exchange.request.method !== method || !isOwn(path)) return undefined;
  for (const url of otherTargets(path, rest, exchange)) {
    const answer = await handle(new NodePlantRequest(exchange, url));
    if (answer.error !== 40401) return answer;
  }
  warnIfLost(handle, path, rest, exchange);
  return undefined;
}

/** Only paths that the app did pass to this middleware: the mount path itself, or the route that it handles. */
function otherTargets(path: string, rest: string, { mount, route }: Exchange): string[] {
  // Not if the app has rewritten the target: then it means another path than the client.
  const isMounted =
    typeof mount === 'string' && mount !== '' && path.endsWith(mount + (rest === '/' ? '' : rest));
  const isAtMount = isMounted && rest === '/' && isOwn(mount);
  const isRoute = [route].flat().some((pattern) => isOwn(pattern) && fits(pattern, rest));
  return [...(isMounted ? [path] : []), ...(isAtMount || isRoute ? [ownPath] : [])];
}

/** Whether a mount path, or the pattern of a route, is written for the operation: with a slash at its end or without. */
function isOwn(place: unknown): place is string | RegExp {
  const text = place instanceof RegExp ? place.source.replace(/[\\?$]/g, '') : place;
  return typeof text === 'string' && withoutSlash(text).endsWith(ownPath);
}

/** Whether a path is one of that pattern, which may be one of a list. Patterns with wildcards or options are the host's. */
function fits(pattern: string | RegExp, path: string): boolean {
  if (pattern instanceof RegExp || /[*+?({]/.test(pattern)) return isOwn(path);
  if (path.endsWith('/') && !pattern.endsWith('/')) return false;
  const segments = withoutSlash(path).split('/');
  const expected = withoutSlash(pattern).split('/');
  return (
    segments.length === expected.length &&
    expected.every((part, i) => part.startsWith(':') || part.toLowerCase() === segments[i]!.toLowerCase()) &&
    isOwn(path)
  );
}

function withoutSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

const warned = new WeakSet<PlantHandler>();

/**
 * Warns once per handler if the app responds 404 too. Skips paths that no `basePath` can express: clients may send
 * anything.
 */
function warnIfLost(handle: PlantHandler, path: string, rest: string, { response }: Exchange): void {
  if (!pathPattern.test(path)) return;
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
