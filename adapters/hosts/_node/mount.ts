import { pathOf } from '../../../src/http.js';
import type { PlantHandler, PlantRequest, PlantResponse } from '../../../src/index.js';
import type { NodeResponse } from './types.js';

const operation = '/plants';

/** What a host says about the place of a middleware. Koa's names and Express's differ; each adapter translates. */
export interface Place {
  readonly method?: string | undefined;
  /** The request's target, as the middleware sees it. */
  readonly url: string;
  /** The request's target, as the client sent it. */
  readonly originalUrl: string;
  /** What the host has taken from the front of `url`. */
  readonly mount?: unknown;
  /** The pattern of the route whose handler the middleware is. */
  readonly route?: unknown;
}

/**
 * Asks the handler, which answered 404, again with each other path that this place may mean. So `app.use('/api/plants', …)`
 * and `app.post('/api/plants', …)` work as `app.use('/api', …)` does, and so does a `basePath` beside a mount.
 *
 * @param make makes a request with this target
 * @returns the first answer that is no 404. If there is none, the app gets the request, and a warning if it has no use for it
 */
export async function askAgain(
  handle: PlantHandler,
  place: Place,
  response: NodeResponse,
  make: (url: string) => PlantRequest,
): Promise<PlantResponse | undefined> {
  if (place.method !== 'POST' || !pathOf(place.originalUrl).endsWith(operation)) return undefined;
  for (const url of otherTargets(place)) {
    const answer = await handle(make(url));
    if (answer.status !== 404) return answer;
  }
  warnIfLost(handle, place, response);
  return undefined;
}

/** None is a path that the app has not handed to us: it is at the mount itself, or in the one route that we answer. */
function otherTargets({ url, originalUrl, mount, route }: Place): string[] {
  const path = pathOf(originalUrl);
  const rest = pathOf(url);
  // Not if the app has rewritten the target: then it means another path than the client.
  const isMounted =
    typeof mount === 'string' && mount !== '' && path.endsWith(mount + (rest === '/' ? '' : rest));
  const isAtMount = isMounted && rest === '/' && mount.endsWith(operation);
  const isRoute = typeof route === 'string' && route.endsWith(operation) && rest.endsWith(operation);
  return [...(isMounted ? [path] : []), ...(isAtMount || isRoute ? [operation] : [])];
}

const warned = new WeakSet<PlantHandler>();

/** Warns once for each handler if the app has nothing either where the request goes on to. */
function warnIfLost(handle: PlantHandler, { url, originalUrl }: Place, response: NodeResponse): void {
  if (warned.has(handle)) return;
  response.on('finish', () => {
    if (response.statusCode !== 404 || warned.has(handle)) return;
    warned.add(handle);
    const rest = pathOf(url);
    const path = pathOf(originalUrl);
    const advice = rest.endsWith(operation)
      ? `set basePath to '${rest.slice(0, -operation.length)}'`
      : `mount it at '${path.slice(0, -operation.length) || '/'}'`;
    process.emitWarning(
      `POST ${path} went past the plant store and got a 404. If it is to create a plant, ${advice}.`,
      { code: 'PLANT_STORE_MOUNT' },
    );
  });
}
