import { afterEach, describe, expect, it } from 'vitest';
import { type Program, startExample } from '../support/program.js';

const running: Program[] = [];

afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

/** Starts an example and returns where it listens: each prints its address. */
async function start(name: string): Promise<string> {
  const program = startExample(name);
  running.push(program);
  return `http://127.0.0.1:${(await program.printed(/port: (\d+)/))[1]}`;
}

function create(url: string, plant: string, token = 'secret'): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: plant });
}

const mounted = ['express', 'koa', 'fastify', 'hono', 'h3', 'nest', 'existing-app'].map((name) => [
  name,
  '/api',
]);

describe('an example creates plants, exact ones', () => {
  it.each([['node-http', ''], ...mounted])('%s', async (name, path) => {
    const plants = `${await start(name!)}${path}/plants`;
    const created = await create(plants, '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}');
    expect([created.status, await created.json()]).toEqual([200, { name: 'Rosa canina', tag: 'shrub' }]);
    const neighbour = await create(plants, '{"id":9007199254740992,"name":"Ilex"}');
    expect([neighbour.status, await neighbour.json()]).toEqual([200, { name: 'Ilex' }]);
    const taken = await create(plants, '{"id":9007199254740993,"name":"Ilex"}');
    expect([taken.status, await taken.json()]).toMatchObject([400, { error: 40003 }]);
    const refused = await create(plants, '{"id":2,"name":"Ilex"}', 'wrong');
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 40102 }]);
  });

  it('next-route, called as Next calls it', async () => {
    const { POST } = await import('../../examples/next-route.js');
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    const request = new Request('http://localhost/api/plants', {
      method: 'POST',
      headers,
      body: '{"id":1,"name":"Ilex"}',
    });
    const response = await POST(request, { params: Promise.resolve({}) });
    expect([response.status, await response.json()]).toEqual([200, { name: 'Ilex' }]);
  });
});

it('existing-app keeps its routes, its preflights, its parsed bodies and its error handler', async () => {
  const url = await start('existing-app');
  const list = await fetch(`${url}/api/plants`);
  expect(await list.json()).toEqual(['the list that was there before']);
  const preflight = await fetch(`${url}/api/plants`, { method: 'OPTIONS' });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  const echo = await create(`${url}/api/echo`, '{"its":"body"}');
  expect(await echo.json()).toEqual({ its: 'body' });
  const broken = await create(`${url}/api/echo`, '{');
  expect([broken.status, await broken.json()]).toEqual([400, { ours: expect.any(String) }]);
  const created = await create(`${url}/api/plants`, '{"id":1,"name":"Ilex"}');
  expect(created.headers.get('access-control-allow-origin')).toBe('*');
});
