import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = new Hono();
app.mount('/api', toFetch(handle)); // POST /api/plants

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, (address) => console.log(address));
