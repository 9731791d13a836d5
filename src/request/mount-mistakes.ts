import type { PlantResponse } from '../http.js';
import { Refusal } from '../problems.js';

/** What to write in place of any mount that is wrong. */
export const whatToWrite =
  'plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)).';

/**
 * Responds to a host that called a wrong function with its request: the handler without an adapter, an adapter without a
 * handler, or the adapter of another host. Without a response the request would hang.
 *
 * @param given the arguments of the host's call: a Node response is the second of them, or in Koa's context; Fastify
 *   gives a callback to its plugins
 * @throws {TypeError} if there is neither; the host then shows the message
 */
export function respondToMistake(...given: readonly unknown[]): PlantResponse {
  const [first, second, done] = given;
  const response = [second, Object(first).res].map(Object).find(({ writeHead }) => writeHead);
  // Some hosts do not show what they catch.
  if (given.length > 1) console.error(whatToWrite);
  if (!response) {
    const error = new TypeError(whatToWrite);
    if (typeof done === 'function') return done(error);
    throw error;
  }
  const refusal = new Refusal('internal_error', whatToWrite).toResponse();
  response.writeHead(refusal.status, refusal.headers);
  response.end(refusal.body);
  return refusal;
}
