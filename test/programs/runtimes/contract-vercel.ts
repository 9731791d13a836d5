/** `api/plants.js` on Vercel as a Node function: the platform has read the body and put it back. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { contractSetup } from '../../support/contract.js';
import { insideOf } from './contract-app.js';

const setup = contractSetup();
const inside = insideOf(setup);
const plants = toNode(
  createPlantStore(setup.storage, setup.verifyToken, { ...setup.options, basePath: '/api' }),
);

export default async function plantsOrInside(request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'GET') return plants(request, response);
  response.end(await inside(new Request(`http://localhost${request.url}`)).text());
}
