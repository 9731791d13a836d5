import { isNotMine } from '../../../src/for-hosts.js';
import type { PlantHandler, PlantResponse } from '../../../src/index.js';
import { drain } from './drain.js';
import type { NodePlantRequest } from './request.js';

/**
 * Handles a request on every Node host: calls the handler, drains the remaining upload, and sends the response.
 *
 * @param passOn passes other paths and methods on to the app, if there is one: in the turn of the handler, with the body unread
 * @returns what `send` or `passOn` returns
 */
export async function respondTo(
  plantRequest: NodePlantRequest,
  handle: PlantHandler,
  send: (response: PlantResponse) => unknown,
  passOn?: () => unknown,
): Promise<unknown> {
  const { exchange } = plantRequest;
  const { request } = exchange;
  // A body that flows already, because an earlier middleware listens to it, would be lost while the handler runs.
  const wasFlowing = request.readableFlowing === true;
  if (wasFlowing) request.pause();
  const response = await handle(plantRequest);
  if (passOn && isNotMine(response)) {
    // It flows in the next tick: the app can listen first.
    if (wasFlowing) request.resume?.();
    return passOn();
  }
  if (exchange.isReadAhead) {
    // Only the end of the message is missing, which takes Node three ticks: read on for those who listen to it.
    if (request.listenerCount('end') + request.listenerCount('close') > 0) request.resume?.();
  } else if (request.complete === false) {
    await drain(exchange, plantRequest.drainMs);
  } else {
    // Discards what nobody has read, so that the connection is free for the next request.
    request.resume?.();
  }
  return send(response);
}
