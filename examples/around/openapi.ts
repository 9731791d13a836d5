// The operation in the OpenAPI document of your app, which @fastify/swagger serves.
import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';
import { openapi } from 'plant-store/openapi';

// Your document: `Error` is another schema than plant-store's.
const own = {
  openapi: '3.1.0',
  info: { title: 'A garden', version: '2.0.0' },
  paths: {
    '/api/beds': {
      get: {
        operationId: 'listBeds',
        security: [{ jwt: [] }],
        responses: { 200: { description: 'the beds' } },
      },
    },
    '/api/plants': {
      get: {
        operationId: 'listPlants',
        security: [{ jwt: [] }],
        responses: { 200: { description: 'the plants' } },
      },
    },
  },
  components: {
    securitySchemes: { jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    schemas: { Error: { type: 'string' } },
  },
};

const plants = openapi({ basePath: '/api', prefix: 'PlantStore', bearerAuth: 'jwt' });
const path = '/api/plants';
const document = {
  ...own,
  // One more method of a path that may have others.
  paths: { ...own.paths, [path]: { ...own.paths[path], ...plants.paths[path] } },
  components: { ...own.components, schemas: { ...own.components.schemas, ...plants.components.schemas } },
};

const app = Fastify();
await app.register(swagger, { mode: 'static', specification: { document: document as object as never } });
app.register(toFastify(createPlantStore(memoryStorage(), acceptTokens('secret'))), { prefix: '/api' });
app.get('/openapi.json', () => app.swagger());

export const { server } = app;
console.log(await app.listen({ port: Number(process.env.PORT ?? 3000) }));
