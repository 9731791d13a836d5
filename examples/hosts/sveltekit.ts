// src/routes/api/plants/+server.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toFetch(createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath: '/api' }));

export const POST = ({ request }: { request: Request }) => plants(request);
