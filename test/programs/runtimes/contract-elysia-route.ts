/** A route of Elysia: its router has matched the path, which has a prefix. */
// @ts-expect-error: installed only for this test
import { Elysia } from 'elysia';
import { createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { contractSetup } from '../../support/contract.js';
import { insideOf } from './contract-app.js';

const setup = contractSetup();
const plants = toRoute(createPlantStore(setup.storage, setup.verifyToken, setup.options));
const inside = insideOf(setup);

const app = new Elysia()
  .post('/api/plants', ({ request }: { request: Request }) => plants(request), { parse: 'none' })
  .get('/inside', ({ request }: { request: Request }) => inside(request))
  .listen(0);
console.log({ port: app.server.port });
