import { operation, pathOf } from '../../../src/for-hosts.js';

/**
 * Whether a path that was mounted or rewritten had a doubled slash, a backslash or white space when the client sent it. A router may
 * have swallowed one (below `/api`, Express 4 makes `/plants` of `/api//plants`: expressjs/express#4427), and Node's `url.parse`, by
 * which koa-mount respells a path, trims white space. A guard of the app at `/api/plants` would not match such a path, so the request
 * goes to the app, as any other path does.
 */
export function isRespelled(url: string, originalUrl: string): boolean {
  return url !== originalUrl && respelled.test(originalUrl) && respelled.test(pathOf(originalUrl));
}

const respelled = /\/\/|[\\\s]/;

/** Whether a path that the app has written ends in the operation's own, where nothing is left for the middleware to serve. */
export function endsInOperation(mount: unknown): mount is string {
  return typeof mount === 'string' && mount.endsWith(operation.path);
}

/** Says once what to write in place of a wrong mount. */
export class MountWarning {
  #isGiven = false;

  /** @param message of the app's own words alone: what a client sends is not written anywhere */
  give(message: string): void {
    if (this.#isGiven) return;
    this.#isGiven = true;
    process.emitWarning(`plant-store: ${message}`, { code: 'PLANT_STORE_MOUNT' });
  }
}

/** What to write for `toRoute(handle)` as middleware of Express or Koa. */
export function middlewareAdvice(adapter: string, app: string): string {
  return `toRoute(handle) is middleware. As a route, write ${app}.post('/api${operation.path}', toRoute(handle)); as middleware, ${adapter}(handle) in place of toRoute(handle).`;
}

/** What to write for `toExpress(handle)`, say, as the handler of a route. */
export function routeAdvice(adapter: string): string {
  const host = adapter.slice(2).toLowerCase();
  return `${adapter}(handle) is the handler of a route. Write toRoute(handle) in its place: import { toRoute } from 'plant-store/${host}'.`;
}
