/** Batches of an app on Bun or Deno whose requests have an AsyncLocalStorage each. A test reads at `/seen` what they ran in. */
import { watchContexts } from '../../support/contexts.js';
import { driverTo, serve } from './fetch-app.js';

declare const Bun:
  | { serve(options: { port: number; fetch: typeof fetchPlants }): { port: number } }
  | undefined;
declare const Deno: {
  serve(
    options: { port: number; onListen: (address: { port: number }) => void },
    handler: typeof fetchPlants,
  ): void;
};

const { requests, seen, batches, postgres } = watchContexts();
const respond = serve([
  ['/groupCommit', batches, 30_000],
  ['/postgresStorage', postgres(driverTo(() => process.argv.at(-1)!)), 30_000],
]);

async function fetchPlants(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === '/seen') return Response.json(seen);
  return requests.run(request.headers.get('id') ?? '', () => respond(request));
}

if (typeof Bun === 'object') console.log({ port: Bun.serve({ port: 0, fetch: fetchPlants }).port });
else Deno.serve({ port: 0, onListen: ({ port }) => console.log({ port }) }, fetchPlants);
