// server/api/plants.post.ts, in Nitro or Nuxt
import { fromWebHandler } from 'h3';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

export default fromWebHandler(toRoute(handle));
