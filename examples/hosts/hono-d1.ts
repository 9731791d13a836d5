import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { sqliteStorage } from 'plant-store/sqlite';

const storage = sqliteStorage(env.DB);
const plants = toRoute(createPlantStore(storage, acceptTokens('secret')));

const app = new Hono();
app.post('/api/plants', (c) => plants(c.req.raw));

export default app;
