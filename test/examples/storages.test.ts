import { expect, it, onTestFinished } from 'vitest';
import { createPlant } from '../support/plants.js';
import { PostgresServer } from '../support/postgres.js';
import { runExample, startExample, urlOf } from '../support/program.js';

it.concurrent.each(['own-storage', 'own-host'])('%s passes its own cases', async (name) => {
  const program = startExample(name);
  expect(await program.exit).toBe(0);
  expect(program.output()).toMatch(/^# pass [1-9]\d+$/m);
  expect(program.output()).toMatch(/^# fail 0$/m);
});

it('postgres stores plants through its pool, and accepts replays', async () => {
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
