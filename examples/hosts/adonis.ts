// start/kernel.ts registers this server middleware: server.use([() => import('#middleware/plants')]).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const plants = toNode(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' }));

/** The part of AdonisJS's context that is used. */
interface HttpContext {
  readonly request: { readonly request: IncomingMessage };
  readonly response: { readonly response: ServerResponse };
}

export default class PlantsMiddleware {
  handle({ request, response }: HttpContext, next: () => Promise<unknown>) {
    return new Promise((resolve) => {
      response.response.once('close', resolve);
      plants(request.request, response.response, () => resolve(next()));
    });
  }
}
