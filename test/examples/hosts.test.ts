import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createPlant, expectExactPlants } from '../support/plants.js';
import { runExample, urlOf } from '../support/program.js';
import { listen } from '../support/sockets.js';
import { expectPlantsUnder } from './recipe.js';

// The quick start, 'express', has a test of its own.
// Those that need a framework of their own are in test/ecosystem/hosts.heavy.ts.
const names = ['express-route', 'koa', 'fastify', 'hono', 'h3', 'existing-app', 'node-http'];

it.each(names)('plants with exact ids are created by %s, which serves what is not ours', async (name) => {
  const mount = (await urlOf(runExample(name))) + (name === 'node-http' ? '' : '/api');
  await expectPlantsUnder(mount);
});

it('adonis passes requests on as AdonisJS calls it, and creates plants', async () => {
  const { default: PlantsMiddleware } = await import('../../examples/hosts/adonis.js');
  const middleware = new PlantsMiddleware();
  const server = createServer(async (request, response) => {
    const passed = await middleware.handle(
      { request: { request }, response: { response } },
      async () => 'next',
    );
    if (passed === 'next') response.end('the app');
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  await expectExactPlants(`${url}/api`);
  expect(await (await fetch(`${url}/api/plants`)).text()).toBe('the app');
});

it('existing-app keeps its routes, its preflights, its parsed bodies and its error handler', async () => {
  const url = await urlOf(runExample('existing-app'));
  const list = await fetch(`${url}/api/plants`);
  expect(await list.json()).toEqual(['the list that was there before']);
  const preflight = await fetch(`${url}/api/plants`, { method: 'OPTIONS' });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  const echo = (body: string) =>
    fetch(`${url}/api/echo`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await (await echo('{"its":"body"}')).json()).toEqual({ its: 'body' });
  const broken = await echo('{');
  expect([broken.status, await broken.json()]).toEqual([400, { ours: expect.any(String) }]);
  expect(await createPlant(`${url}/api`, '{"id":1')).toMatchObject({ status: 400, body: { error: 40001 } });
  const created = await createPlant(`${url}/api`, '{"id":1,"name":"Ilex"}');
  expect(created.headers.get('access-control-allow-origin')).toBe('*');
});
