// The programs for Nest: each way to mount, on Express and on Fastify, what `init nest` writes, and the e2e test of an app.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examplePostgres, expectPlantsUnder, rosa } from '../examples/recipe.js';
import { bundleTo } from '../support/bundle.js';
import { initProgram } from '../support/init-program.js';
import { ecosystemBundle, ecosystemFolder } from '../support/installed.js';
import { createPlant, expectExactPlants } from '../support/plants.js';
import { startProgram, untilTestEnds, urlOf } from '../support/program.js';
import { root } from '../support/root.js';

/** Starts a program of examples/hosts, and returns the URL before `/plants`. */
const start = async (name: string, env: Record<string, string> = {}) => {
  const program = startProgram([process.execPath, ecosystemBundle(name)], env);
  return `${await urlOf(untilTestEnds(program))}/api`;
};

it.each(['nest', 'nest-fastify'])(
  '%s creates plants with exact ids, and serves what is not ours',
  async (name) => expectPlantsUnder(await start(name)),
);

it.each([
  ['nest-middleware', {}],
  ['nest-controller', {}],
  ['nest-controller', { ON_FASTIFY: 'yes' }],
] as const)(
  "%s creates plants with exact ids behind Nest's parser, which responds to what it rejects %j",
  async (name, env) => {
    const url = await start(name, { ...env });
    await expectExactPlants(url);
    expect(await createPlant(url, rosa(2), 'wrong')).toMatchObject({ status: 401, body: { error: 40102 } });
    const { status, body } = await createPlant(url, '{');
    expect([status, Object(body).error === 40001]).toEqual([400, false]);
    expect((await fetch(`${url}/trees`)).status).toBe(404);
  },
);

describe("TypeORM's pool", () => {
  examplePostgres();
  it('creates plants, of which each tenant has its own ids', async () => {
    const url = await start('nest-typeorm', { DATABASE_URL: process.env.DATABASE_URL! });
    await expectExactPlants(url);
    const statuses = ['secret', 'park-secret', 'park-secret'].map(
      async (token) => (await createPlant(url, rosa(77), token)).status,
    );
    expect((await Promise.all(statuses)).sort()).toEqual([200, 200, 400]);
  });
});

it('the e2e test passes, by supertest', async () => {
  const program = startProgram([process.execPath, '--test-reporter=tap', ecosystemBundle('nest-e2e')]);
  expect([await program.exit, program.output()]).toEqual([0, expect.stringMatching(/^# pass 2$/m)]);
});

it('init nest writes a module that creates plants on SQLite once its migration has run', async () => {
  const { folder, sql } = initProgram({ host: 'nest', database: 'sqlite' });
  const main = readFileSync(join(root, 'examples/hosts/nest.ts'), 'utf8').replace(
    './nest-plants.js',
    './src/plants.module.js',
  );
  writeFileSync(join(folder, 'main.ts'), main);
  const DATABASE = join(folder, 'plants.db');
  const database = new Database(DATABASE);
  database.exec(sql);
  database.close();
  const outfile = join(ecosystemFolder(), `init-nest-${process.pid}.mjs`);
  onTestFinished(() => rmSync(outfile));
  bundleTo(outfile, join(folder, 'main.ts'));
  const program = untilTestEnds(startProgram([process.execPath, outfile], { DATABASE }));
  await expectExactPlants(`${await urlOf(program)}/api`);
});
