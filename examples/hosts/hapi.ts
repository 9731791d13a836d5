import Hapi from '@hapi/hapi';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const plants = toNode(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' }));

const app = Hapi.server({ port: process.env.PORT ?? 3000 });
// Here Hapi has read nothing yet. A route of its own would check the body before the token.
app.ext('onRequest', ({ raw }, h) => {
  return new Promise((resolve) => {
    raw.res.once('close', () => resolve(h.abandon));
    plants(raw.req, raw.res, () => resolve(h.continue));
  });
});

await app.start();
export const server = app.listener;
console.log(server.address());
