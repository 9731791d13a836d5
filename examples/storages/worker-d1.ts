// A Cloudflare Worker that stores plants in D1. A migration creates the table: `npx plant-store schema d1` prints it.
import { env } from 'cloudflare:workers';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { sqliteStorage } from 'plant-store/sqlite';

const storage = sqliteStorage(env.DB);

export default { fetch: toFetch(createPlantStore(storage, acceptTokens(env.TOKEN))) };
