// src/routes/api/plants/+server.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toRoute(createPlantStore(memoryStorage(), acceptTokens('secret')));

export const POST = ({ request }: { request: Request }) => plants(request);
