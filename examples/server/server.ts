// The demo server: `npm start`. Its settings come from the environment; the README lists them.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { finder, freeId, randomId } from './free-id.js';
import { openStorage } from './open-storage.js';
import { evaluationPage } from './page/page.js';
import { isLoopback, refuseHost, refuseInWords } from './refusals.js';
import { stopper } from './stop.js';

const evaluationToken = 'for-evaluation-only';

start().catch((error: Error) => {
  console.error(`plant-store: ${error.message}`);
  process.exit(1);
});

async function start(): Promise<void> {
  const host = process.env.HOST || '127.0.0.1';
  const port = wholeNumber('PORT', 3000, 0, 65_535);
  const bodyLimit = wholeNumber('BODY_LIMIT', 1_048_576, 1, Number.MAX_SAFE_INTEGER);
  const timeoutMs = wholeNumber('TIMEOUT_MS', 30_000, 0, 2 ** 31 - 1);
  const token = process.env.TOKEN || evaluationToken;
  // A token of your own is a secret: neither the terminal nor the page, which anybody can open, shows it.
  const publicToken = token === evaluationToken ? token : undefined;
  if (publicToken && !isLoopback(host))
    throw new Error(`HOST ${host} is reachable from other machines: set TOKEN to a secret of your own`);
  if (!/^[\w.~+/-]+=*$/.test(token)) throw new Error('TOKEN must be one word of A-Z a-z 0-9 - . _ ~ + /');

  const { storage, place, close } = await openStorage(process.env.DATABASE_URL || 'file:plants.db');
  const mount = toNode(createPlantStore(storage, acceptTokens(token), { bodyLimit, timeoutMs }));
  const find = finder(storage);
  const curlId = (await freeId(find)) ?? randomId();
  // The page never offers the id of the printed curl, so that both work, in either order.
  const page = evaluationPage({
    token: publicToken,
    freeId: () => freeId(async (id) => id === curlId || find(id), curlId + 1n),
  });
  const rules = { loopbackOnly: publicToken !== undefined };
  const unlessRefused =
    (next: (request: IncomingMessage, response: ServerResponse) => unknown) =>
    (request: IncomingMessage, response: ServerResponse) =>
      refuseHost(request, response, rules) || next(request, response);
  const server = createServer(
    // Node looks for late requests every 30 s by default, and rejects one without a Host with an empty body.
    { connectionsCheckingInterval: 2_000, requireHostHeader: false },
    unlessRefused((request, response) => page(request, response, () => mount(request, response))),
  );
  // The reader of the body sends the 100 once it wants it: a refused upload is never sent.
  server.on('checkContinue', unlessRefused(mount));
  refuseInWords(server);
  // After the library's own deadline, so that a stalled upload gets the library's answer.
  server.requestTimeout = timeoutMs && timeoutMs + 5_000;
  server.headersTimeout = Math.min(10_000, server.requestTimeout || 10_000);

  const stop = stopper(server);

  // Connections that come at once wait here: one that finds no room tries again only a second later.
  server.listen({ port, host, backlog: 4_096 });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`port ${port} is in use: set PORT to another`) : error;
  });
  // A second signal ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await stop();
      await close();
      console.log(`plant-store stopped. Plants: ${place}`);
      process.exit(0);
    });
  }
  announce(server.address() as AddressInfo, place, curlId, publicToken);
}

function wholeNumber(name: string, otherwise: number, least: number, most: number): number {
  const text = process.env[name];
  if (!text) return otherwise;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new Error(`${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
  }
  return value;
}

function announce({ address, port, family }: AddressInfo, place: string, id: bigint, token?: string): void {
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const authorization = token ? `'Authorization: Bearer ${token}'` : '"Authorization: Bearer $TOKEN"';
  console.log(`plant-store is listening on ${url}
  token    ${token ?? 'yours, from TOKEN'}
  plants   ${place}

Open ${url} in a browser, or create a plant here:

  curl -i ${url}/plants -H ${authorization} -H 'Content-Type: application/json' -d '{"id":${id},"name":"Rosa canina","tag":"shrub"}'
`);
}
