// One line of JSON for each response and for each cause of a 5xx, joined by a request id.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import {
  acceptTokens,
  createPlantStore,
  describeError,
  type PlantHandler,
  type PlantRequest,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

// Or pino's log.info(line).
const log = (line: object) => console.log(JSON.stringify({ time: new Date(), ...line }));

const ids = new WeakMap<PlantRequest, string>();

export const storage = memoryStorage();

const handle = createPlantStore(storage, acceptTokens('secret'), {
  onError: (error, request, code) => {
    // Many 503s are one outage, which an alert on their rate reports.
    const level = code >= 50300 ? 'warn' : 'error';
    log({ level, requestId: ids.get(request), error: code, cause: describeError(error, code) });
  },
});

const logged: PlantHandler = async (request) => {
  const given = (request.raw as IncomingMessage).headers['x-request-id'];
  // A client can send anything in this header: keep it only if it looks like an id.
  const requestId = typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : randomUUID();
  ids.set(request, requestId);
  const start = performance.now();
  const response = await handle(request);
  const { status, error } = response;
  log({ level: 'info', requestId, method: request.method, status, error, ms: performance.now() - start });
  return { ...response, headers: { ...response.headers, 'x-request-id': requestId } };
};

export const server = createServer(toNode(logged));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
