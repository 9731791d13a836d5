// app/api/plants/route.ts
import { getCloudflareContext } from '@opennextjs/cloudflare';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { sqliteAsyncStorage } from 'plant-store/sqlite-async';

const { env } = await getCloudflareContext({ async: true });
const handle = createPlantStore(sqliteAsyncStorage(env.DB), acceptTokens('secret'));

export const POST = toRoute(handle);
