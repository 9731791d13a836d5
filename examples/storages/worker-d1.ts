// A Cloudflare Worker that stores plants in D1. A migration creates the table: `npx plant-store schema sqlite` prints it.
import { env } from 'cloudflare:workers';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { sqliteAsyncStorage } from 'plant-store/sqlite-async';

const storage = sqliteAsyncStorage(env.DB);

export default { fetch: toFetch(createPlantStore(storage, acceptTokens(env.TOKEN))) };
