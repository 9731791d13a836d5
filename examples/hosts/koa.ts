import Koa from 'koa';
import mount from 'koa-mount';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toKoa } from 'plant-store/koa';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = new Koa();
app.use(mount('/api', toKoa(handle))); // POST /api/plants

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
