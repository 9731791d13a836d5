import { expect, it, onTestFinished } from 'vitest';
import { createPlant, expectExactPlants } from '../support/plants.js';
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
  const mount = `${await urlOf(runExample('postgres', { DATABASE_URL: database.url }))}/api`;
  await expectExactPlants(mount);
  const rosa = '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}';
  expect(await createPlant(mount, rosa)).toMatchObject({
    status: 200,
    body: { name: 'Rosa canina', tag: 'shrub' },
  });
});
