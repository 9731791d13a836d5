// app/api/plants/route.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' });

export const POST = toFetch(handle);
