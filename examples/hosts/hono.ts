import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toRoute(createPlantStore(memoryStorage(), acceptTokens('secret')));

const app = new Hono();
app.post('/api/plants', (c) => plants(c.req.raw));

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, (address) => console.log(address));
