import { pathOf } from '../../../src/http.js';
import type { PlantHandler, PlantResponse } from '../../../src/index.js';
import { type Exchange, NodePlantRequest } from './request.js';
import type { NodeResponse } from './types.js';

const operation = '/plants';

/** What a host says about the place of a middleware. Koa's names and Express's differ; each adapter translates. */
export interface Place {
  /** The request's target, as the client sent it. */
  readonly originalUrl: string;
  /** What the host has taken from the front of it. */
  readonly mount?: unknown;
  /** The pattern of the route whose handler the middleware is. */
  readonly route?: unknown;
}

/**
 * Asks the handler, which answered 404, again with each other path that this place may mean. So `app.use('/api/plants', …)`
 * and `app.post('/api/plants', …)` work as `app.use('/api', …)` does, and so does a `basePath` beside a mount.
 *
 * @returns the first answer that is no 404. If there is none, the app gets the request, and a warning if it has no use for it
 */
export async function askAgain(
  handle: PlantHandler,
  exchange: Exchange,
  place: Place,
): Promise<PlantResponse | undefined> {
  const path = pathOf(place.originalUrl);
  if (exchange.request.method !== 'POST' || !path.endsWith(operation)) return undefined;
  const rest = pathOf(exchange.url);
  for (const url of otherTargets(path, rest, place)) {
    const answer = await handle(new NodePlantRequest(exchange, url));
    if (answer.status !== 404) return answer;
  }
  warnIfLost(handle, path, rest, exchange.response);
  return undefined;
}

/** None is a path that the app has not handed to us: it is at the mount itself, or in the one route that we answer. */
function otherTargets(path: string, rest: string, { mount, route }: Place): string[] {
  // Not if the app has rewritten the target: then it means another path than the client.
  const isMounted =
    typeof mount === 'string' && mount !== '' && path.endsWith(mount + (rest === '/' ? '' : rest));
  const isAtMount = isMounted && rest === '/' && mount.endsWith(operation);
  const isRoute = typeof route === 'string' && route.endsWith(operation) && rest.endsWith(operation);
  return [...(isMounted ? [path] : []), ...(isAtMount || isRoute ? [operation] : [])];
}

const warned = new WeakSet<PlantHandler>();

/** Warns once for each handler if the app has nothing either where the request goes on to. */
function warnIfLost(handle: PlantHandler, path: string, rest: string, response: NodeResponse): void {
  if (warned.has(handle)) return;
  response.on('finish', () => {
    if (response.statusCode !== 404 || warned.has(handle)) return;
    warned.add(handle);
    const advice = rest.endsWith(operation)
      ? `set basePath to '${rest.slice(0, -operation.length)}'`
      : `mount it at '${path.slice(0, -operation.length) || '/'}'`;
    process.emitWarning(
      `POST ${path} went past the plant store and got a 404. If it is to create a plant, ${advice}.`,
      { code: 'PLANT_STORE_MOUNT' },
    );
  });
}
