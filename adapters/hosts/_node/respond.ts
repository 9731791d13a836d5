import { isNotMine } from '../../../src/for-hosts.js';
import type { PlantHandler } from '../../../src/index.js';
import { drain } from './drain.js';
import type { NodePlantRequest } from './request.js';

/**
 * Handles a request on every Node host: calls the handler, then drains the remaining upload.
 *
 * @param hasApp whether there is an app to pass other paths and methods on to
 * @returns the response to send, or `undefined` to pass the request on, in this turn and with its body unread
 */
export async function respondTo(plantRequest: NodePlantRequest, handle: PlantHandler, hasApp = true) {
  const { exchange } = plantRequest;
  const { request } = exchange;
  // A body that flows already, because an earlier middleware listens to it, would be lost while the handler runs.
  const wasFlowing = request.readableFlowing === true;
  if (wasFlowing) request.pause();
  const plantResponse = await handle(plantRequest);
  if (hasApp && isNotMine(plantResponse)) {
    // It flows in the next tick: the app can listen first.
    if (wasFlowing) request.resume?.();
    return undefined;
  }
  // Usually all has come: the stream ends, so that the connection is free for the next request.
  if (exchange.isReadAhead || request.complete !== false) request.resume?.();
  else await drain(exchange, plantRequest.drainMs);
  return plantResponse;
}
