// Frameworks that mount an adapter as it is: the contract table on each, their parsers, and their programs in examples/.
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { expectPlantsUnder } from '../examples/recipe.js';
import { contractOn } from '../hosts/suite.js';
import { bodiesBehind, keptBytes, parsed } from '../hosts/uploads/body-matrix.js';
import { readByBuffers, wholeBodiesOn } from '../hosts/uploads/whole-body.js';
import { ecosystemBundle, load } from '../support/installed.js';
import { rose } from '../support/plants.js';
import { startProgram, untilTestEnds, urlOf } from '../support/program.js';
import { listen } from '../support/sockets.js';
import { named } from '../support/titled.js';
import { frameworks, onNest } from './hosts.js';

describe.each(named(frameworks))('the contract on %s', (_, host) => contractOn(host));

describe.each(named(frameworks))('a body of which read() returns one buffer of several, on %s', (_, host) =>
  wholeBodiesOn(host, readByBuffers),
);

describe("behind NestJS' parser", () => bodiesBehind(parsed, onNest('plants')));
describe("behind NestJS' parser with rawBody: true", () =>
  bodiesBehind(keptBytes, onNest('plants', { rawBody: true })));

it.each(['', '/api'])(
  "mounted by forRoutes of Nest with basePath '%s', POST /api/plants creates, and other paths and methods are the app's",
  async (basePath) => {
    const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { basePath });
    const { url, close } = await onNest('api/plants')(handle);
    onTestFinished(close);
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    const statusOf = async (path: string, method = 'POST') =>
      (await fetch(url + path, { method, headers, ...(method === 'POST' && { body: rose }) })).status;
    expect(await statusOf('/api/plants?x=/plants')).toBe(200);
    for (const path of ['/plants', '/api', '/api/plants/x', '/api/trees/plants', '/x/api/plants'])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    expect(await statusOf('/api/plants', 'GET')).toBe(404);
  },
);

it('plants with exact ids are created by hapi, which serves what is not ours', async () => {
  const program = startProgram([process.execPath, ecosystemBundle('hapi')]);
  await expectPlantsUnder(`${await urlOf(untilTestEnds(program))}/api`);
});

test('the request of Azure Functions, which has no signal, creates', async () => {
  const { HttpRequest } = (await load('@azure/functions')).default;
  const request = new HttpRequest({
    method: 'POST',
    url: 'http://localhost/plants',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: { string: rose },
  });
  expect('signal' in request).toBe(false);
  const response = await toFetch(createPlantStore(memoryStorage(), acceptTokens('secret')))(request);
  expect(response.status).toBe(200);
});

test("a body above the limit of SvelteKit's adapter for Node, declared or not, is unreadable, and onError is told what to raise", async () => {
  const { getRequest, setResponse } = await load('@sveltejs/kit/node');
  const told: string[] = [];
  const plants = toFetch(
    createPlantStore(memoryStorage(), acceptTokens('secret'), {
      onError: (error) => void told.push((error as Error).message),
    }),
  );
  const { url, close } = await listen(
    createServer(async (request, response) => {
      const given = await getRequest({ request, base: 'http://localhost', bodySizeLimit: 1000 });
      setResponse(response, await plants(given));
    }),
  );
  onTestFinished(close);
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const body = rose.padEnd(2000);
  for (const sent of [body, ReadableStream.from([Buffer.from(body)])]) {
    const init = { method: 'POST', headers, body: sent, duplex: 'half' } as RequestInit;
    const response = await fetch(`${url}/plants`, init);
    expect(await response.json()).toMatchObject({ error: 50003 });
  }
  expect(told).toEqual(Array(2).fill(expect.stringMatching(/raise that limit/)));
});
