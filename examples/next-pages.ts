// pages/api/plants.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' });

// Next would parse the body, and round ids beyond 2^53.
export const config = { api: { bodyParser: false } };

export default toNode(handle);
