// Errors as problem details (RFC 9457), for an API that has them everywhere.
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const withProblemDetails: PlantHandler = async (request) => {
  const response = await handle(request);
  if (!response.error || !response.body) return response;
  // `error` and `message` stay, as extension members: plant-store/client reads them.
  const { error, message } = JSON.parse(response.body);
  const type = `https://example.com/errors#${error}`;
  const body = JSON.stringify({ type, status: response.status, detail: message, error, message });
  return { ...response, headers: { ...response.headers, 'content-type': 'application/problem+json' }, body };
};

export const server = createServer(toNode(withProblemDetails));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
