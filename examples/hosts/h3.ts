import { H3, serve } from 'h3';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toRoute(createPlantStore(memoryStorage(), acceptTokens('secret')));

const app = new H3();
app.post('/api/plants', (event) => plants(event.req));

const server = await serve(app, { port: Number(process.env.PORT ?? 3000), silent: true }).ready();
console.log(server.node?.server?.address());
