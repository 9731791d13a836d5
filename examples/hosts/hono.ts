import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' });
const fetch = toFetch(handle);

const app = new Hono();
app.post('/api/plants', (c) => fetch(c.req.raw)); // app.mount('/api', …) would take all of /api

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, (address) => console.log(address));
