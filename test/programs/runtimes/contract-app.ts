/** The contract table's server as a fetch handler. A test reads the stored plants at `/inside`. */
import { createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { contractSetup } from '../../support/contract.js';

const setup = contractSetup();
const inside = insideOf(setup);
const mounted = toFetch(createPlantStore(setup.storage, setup.verifyToken, setup.options));

// All arguments of the runtime are passed on, as if `toFetch` were mounted directly.
export function fetch(request: Request, ...rest: unknown[]): Promise<Response> | Response {
  return new URL(request.url).pathname === '/inside' ? inside(request) : mounted(request, ...rest);
}

/** The plants that the case with this `id` stored, and how often `onError` was called. */
export function insideOf({ errors, stored }: ReturnType<typeof contractSetup>) {
  return ({ url }: Request): Response => {
    const id = new URL(url).searchParams.get('id')!;
    const plants = stored({ id }).map((plant) => ({ ...plant, id: String(plant.id) }));
    return new Response(JSON.stringify({ errors: errors.length, plants }));
  };
}
