// A Cloudflare Worker. A real one keeps its plants in D1: see worker-d1.ts.
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

export default { fetch: toFetch(handle) };
