import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createPlant } from '../support/plants.js';
import { PostgresServer } from '../support/postgres.js';
import { runExample, startProgram, urlOf } from '../support/program.js';

it.each(['own-storage', 'own-host'])('%s passes its own cases', async (name) => {
  const program = runExample(name);
  expect(await program.exit).toBe(0);
  expect(program.output()).toMatch(/^# pass [1-9]\d+$/m);
  expect(program.output()).toMatch(/^# fail 0$/m);
});

it('minimal-storage creates each id once, exactly, and rejects a long name', async () => {
  const database = await PostgresServer.start();
  onTestFinished(() => database.close());
  const pool = new pg.Pool({ connectionString: database.url });
  await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');
  await pool.end();
  const bodies = [
    '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}',
    '{"id":9007199254740992,"name":"Ilex"}',
    '{"id":9007199254740993,"name":"Ilex"}',
    `{"id":1,"name":"${'x'.repeat(201)}"}`,
  ];
  const program = startProgram(
    [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', createEach],
    { DATABASE_URL: database.url, BODIES: JSON.stringify(bodies) },
  );
  expect(await program.exit).toBe(0);
  const answers = program.output().trim().split('\n');
  expect(answers.map((answer) => JSON.parse(answer))).toEqual([
    { name: 'Rosa canina', tag: 'shrub' },
    { name: 'Ilex' },
    { error: 40003, message: expect.any(String) },
    { error: 40004, message: 'name is longer than 200 characters' },
  ]);
});

/** A program of its own, because the example opens its pool when it is imported. */
const createEach = `
  const { handle } = await import('./examples/storages/minimal-storage.ts');
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  for (const body of JSON.parse(process.env.BODIES)) {
    console.log((await handle({ method: 'POST', url: '/plants', headers, body })).body);
  }
  process.exit();`;

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
