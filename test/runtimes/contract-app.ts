/** The contract table's server as a fetch handler; what a test asks of the inside it asks under `/inside`. */
import { createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { contractSetup } from '../cases/contract.js';

const { storage, verifyToken, options, errors, stored } = contractSetup();
const mounted = toFetch(createPlantStore(storage, verifyToken, options));

export function fetch(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  return pathname === '/inside' ? inside(searchParams.get('id')!) : mounted(request);
}

async function inside(id: string): Promise<Response> {
  const plants = stored({ id }).map((plant) => ({ ...plant, id: String(plant.id) }));
  return new Response(JSON.stringify({ errors: errors.length, plants }));
}
