import Fastify, { type FastifyInstance } from 'fastify';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { onTestFinished } from 'vitest';
import { rose } from '../../support/plants.js';

/** An app for one test. */
export function fastifyApp(options: object = {}): FastifyInstance {
  const app: FastifyInstance = Fastify(options);
  onTestFinished(() => app.close());
  return app;
}

/** The plugin with a store of its own. */
export const plants = (route?: Parameters<typeof toFastify>[1]) =>
  toFastify(createPlantStore(memoryStorage(), acceptTokens('good')), route);

/** A create for `app.inject`. */
export const createBy = (token: string, url = '/api/plants') => ({
  method: 'POST' as const,
  url,
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: rose,
});
