// app/routes/api.plants.ts, in React Router's framework mode or Remix
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toRoute(createPlantStore(memoryStorage(), acceptTokens('secret')));

export const action = ({ request }: { request: Request }) => plants(request);
