import { afterEach, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';
import { startExample } from '../support/program.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

it('own-storage proves itself', async () => {
  const program = startExample('own-storage');
  cleanUps.push(() => program.child.kill('SIGKILL'));
  expect(await program.exit).toBe(0);
  expect(program.output()).toMatch(/^# pass 12$/m);
  expect(program.output()).toMatch(/^# fail 0$/m);
});

it('postgres keeps plants on its pool, and lets a client send a create again', async () => {
  const database = await PostgresServer.start();
  cleanUps.push(() => database.close());
  const program = startExample('postgres', { DATABASE_URL: database.url });
  cleanUps.push(() => program.child.kill('SIGKILL'));
  const [, port] = await program.printed(/port: (\d+)/);
  const create = async (body: string) => {
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${port}/api/plants`, { method: 'POST', headers, body });
    return [response.status, await response.json()];
  };
  const rosa = '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}';
  expect(await create(rosa)).toEqual([200, { name: 'Rosa canina', tag: 'shrub' }]);
  expect(await create(rosa)).toEqual([200, { name: 'Rosa canina', tag: 'shrub' }]);
  expect(await create('{"id":9007199254740993,"name":"Ilex"}')).toMatchObject([400, { error: 40003 }]);
  expect(await create('{"id":9007199254740992,"name":"Ilex"}')).toEqual([200, { name: 'Ilex' }]);
});
