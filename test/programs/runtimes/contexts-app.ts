/** Batches of an app on Bun or Deno whose requests have an AsyncLocalStorage each. A test reads at `/seen` what they ran in. */
import { watchContexts } from '../../support/contexts.js';
import { driverTo, serve } from './fetch-app.js';
import { listen } from './listen.js';

const { requests, seen, batches, postgres } = watchContexts();
const respond = serve([
  ['/groupCommit', batches, 30_000],
  ['/postgresStorage', postgres(driverTo(() => process.argv.at(-1)!)), 30_000],
]);

listen(async (request) => {
  if (new URL(request.url).pathname === '/seen') return Response.json(seen);
  return requests.run(request.headers.get('id') ?? '', () => respond(request));
});
