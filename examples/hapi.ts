import Hapi from '@hapi/hapi';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const plants = toNode(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' }));

const app = Hapi.server({ port: process.env.PORT ?? 3000 });
app.route({
  method: 'POST',
  path: '/api/plants',
  // Hapi leaves the body unread, and the answer to plant-store.
  options: { payload: { parse: false, output: 'stream' } },
  handler({ raw }, h) {
    plants(raw.req, raw.res);
    return h.abandon;
  },
});

await app.start();
export const server = app.listener;
console.log(server.address());
