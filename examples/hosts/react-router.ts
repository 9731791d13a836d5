// app/routes/api.plants.ts, in React Router's framework mode or Remix
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toFetch(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' }));

export const action = ({ request }: { request: Request }) => plants(request);
