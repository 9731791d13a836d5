/** The contract table's server as a fetch handler; what a test asks of the inside it asks under `/inside`. */
import { createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { contractSetup } from '../support/contract.js';

const setup = contractSetup();
const inside = insideOf(setup);
const mounted = toFetch(createPlantStore(setup.storage, setup.verifyToken, setup.options));

// With all that the runtime gives, as if it were mounted straight.
export function fetch(request: Request, ...rest: unknown[]): Promise<Response> | Response {
  return new URL(request.url).pathname === '/inside' ? inside(request) : mounted(request, ...rest);
}

/** Tells what was stored for the case of an `id`, and how often `onError` was told. */
export function insideOf({ errors, stored }: ReturnType<typeof contractSetup>) {
  return ({ url }: Request): Response => {
    const id = new URL(url).searchParams.get('id')!;
    const plants = stored({ id }).map((plant) => ({ ...plant, id: String(plant.id) }));
    return new Response(JSON.stringify({ errors: errors.length, plants }));
  };
}
