import { operation, pathOf, pathPattern } from '../../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../../src/index.js';
import type { Exchange } from './exchange.js';
import { NodePlantRequest } from './request.js';

const { method, path: ownPath } = operation;

/**
 * Asks the handler, which answered 40401, again with each other path that this place may mean. So `app.use('/api/plants', …)`
 * and `app.post('/api/plants', …)` work as `app.use('/api', …)` does, and so does a `basePath` beside a mount.
 *
 * @returns the first answer that is no 40401. If there is none, the app gets the request, and a warning if it has no use for it
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

/** Only paths that the app did pass to us: the mount path itself, or the route whose handler we are. */
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
 * Warns once for each handler if the app has nothing either where the request goes on to. Not of a path that no option
 * can name, because clients can send any.
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
