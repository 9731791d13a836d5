// Frameworks of the page 'More frameworks', whose line mounts plant-store in an app: the contract table and uploads on each.
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expectPlantsUnder } from '../examples/recipe.js';
import { contractOn } from '../hosts/suite.js';
import { bodiesBehind, keptBytes } from '../hosts/uploads/body-matrix.js';
import { eachIsAnswered, nextIsAnswered, startHost } from '../hosts/uploads/refused-uploads.js';
import { importExample, load } from '../support/installed.js';
import { createPlant, expectExactPlants } from '../support/plants.js';
import { listen } from '../support/sockets.js';
import { named } from '../support/titled.js';
import { behindParser, heading, moreFrameworks } from './more-frameworks.js';
import { pageRows } from './page-rows.js';

test('each row of the page is tried', () => {
  const tried = [...moreFrameworks, behindParser].map(({ name }) => name);
  expect(tried.sort()).toEqual([...pageRows(heading).keys()].sort());
});

describe.each(named(moreFrameworks))('on %s', (_, host) => {
  describe('the contract', () => contractOn(host));
  eachIsAnswered(host, 2, 'keep-alive');
  nextIsAnswered(host, 2);
});

describe(`behind the parser of ${behindParser.name}`, () => {
  bodiesBehind(keptBytes, behindParser.start);
  test('a plant of 2 MB is rejected, and the next one is created', async () => {
    const { url, close } = await startHost(behindParser);
    onTestFinished(close);
    const large = await createPlant(url, `{"id":1,"name":"${'x'.repeat(2e6)}"}`);
    expect(large).toMatchObject({ status: 400, body: { error: 40006 } });
    await expectExactPlants(url);
  });
});

test('the server middleware creates plants in AdonisJS, which serves what is not ours', async () => {
  const { AppFactory } = await load('@adonisjs/core/factories/app');
  const { ServerFactory } = await load('@adonisjs/core/factories/http');
  const app = new AppFactory().create(new URL('./', import.meta.url), () => {});
  await app.init();
  const server = new ServerFactory().merge({ app }).create();
  server.use([() => importExample('adonis')]);
  server.getRouter().get('/api/plants', () => 'the app');
  await server.boot();
  const { url, close } = await listen(createServer(server.handle.bind(server)));
  onTestFinished(close);
  await expectPlantsUnder(`${url}/api`);
  expect(await (await fetch(`${url}/api/plants`)).text()).toBe('the app');
});
