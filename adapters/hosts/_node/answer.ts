import { isNotMine } from '../../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../../src/index.js';
import { drain } from './drain.js';
import type { Exchange } from './exchange.js';
import { retryOtherTargets } from './mount.js';
import { NodePlantRequest } from './request.js';

// Kept from when this module loads, because an app's tests may put others in their place.
const { setImmediate } = globalThis;
const { nextTick } = process;

/**
 * What every host on Node does with a request: waits for its body, asks the handler, and takes care of the upload.
 *
 * @param hasApp whether there is an app to hand other paths and methods on to
 * @returns the answer to send. If there is none, the app gets the request, its body unread
 */
export async function answerOf(
  handle: PlantHandler,
  exchange: Exchange,
  hasApp = true,
): Promise<PlantResponse | undefined> {
  const { request, response } = exchange;
  // A body that flows already, because a middleware in front listens to it, would be lost while we wait.
  const wasFlowing = request.readableFlowing === true;
  if (wasFlowing) request.pause();
  // After one turn of the event loop Node has usually parsed all of the body, and one `read()` takes it, without
  // listeners, promise or timer. Gain: a quarter of `toNode`'s cost.
  if (request.method === 'POST' && request.complete === false) await new Promise((go) => setImmediate(go));

  let answer = await handle(new NodePlantRequest(exchange));
  if (answer.error === 40401) answer = (await retryOtherTargets(handle, exchange)) ?? answer;
  if (hasApp && isNotMine(answer)) {
    // Later, so that the app can listen first.
    if (wasFlowing) nextTick(() => request.resume());
    return undefined;
  }
  await drain(request, response);
  return answer;
}
