// app/api/plants/route.ts
import { getCloudflareContext } from '@opennextjs/cloudflare';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { sqliteStorage } from 'plant-store/sqlite';

const { env } = await getCloudflareContext({ async: true });
const handle = createPlantStore(sqliteStorage(env.DB), acceptTokens('secret'));

export const POST = toRoute(handle);
