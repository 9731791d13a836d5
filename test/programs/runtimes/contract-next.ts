/** `app/api/plants/route.ts` of a Next app. */
import { createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { contractSetup } from '../../support/contract.js';
import { insideOf } from './contract-app.js';

const setup = contractSetup();

export const POST = toRoute(createPlantStore(setup.storage, setup.verifyToken, setup.options));
export const GET = insideOf(setup);
