// pages/api/plants.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' });

// Next's body parser would round ids beyond 2^53. The answer comes after the function returns: externalResolver.
export const config = { api: { bodyParser: false, externalResolver: true } };

export default toNode(handle);
