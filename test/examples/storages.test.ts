import { expect, it, onTestFinished } from 'vitest';
import { createPlant } from '../support/plants.js';
import { PostgresServer } from '../support/postgres.js';
import { runExample, urlOf } from '../support/program.js';

it('own-storage proves itself', async () => {
  const program = runExample('own-storage');
  expect(await program.exit).toBe(0);
  expect(program.output()).toMatch(/^# pass 12$/m);
  expect(program.output()).toMatch(/^# fail 0$/m);
});

it('postgres keeps plants on its pool, and lets a client send a create again', async () => {
  const database = await PostgresServer.start();
  onTestFinished(() => database.close());
  const url = await urlOf(runExample('postgres', { DATABASE_URL: database.url }));
  const create = async (plant: string) => {
    const { status, body } = await createPlant(`${url}/api`, plant);
    return [status, body];
  };
  const rosa = '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}';
  expect(await create(rosa)).toEqual([200, { name: 'Rosa canina', tag: 'shrub' }]);
  expect(await create(rosa)).toEqual([200, { name: 'Rosa canina', tag: 'shrub' }]);
  expect(await create('{"id":9007199254740993,"name":"Ilex"}')).toMatchObject([400, { error: 40003 }]);
  expect(await create('{"id":9007199254740992,"name":"Ilex"}')).toEqual([200, { name: 'Ilex' }]);
});
