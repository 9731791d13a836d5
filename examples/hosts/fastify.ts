import Fastify from 'fastify';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = Fastify();
app.register(toFastify(handle), { prefix: '/api' }); // POST /api/plants

await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log(app.server.address());
