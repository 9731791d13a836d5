// An app of each framework with a build takes the packed package, is built, and runs as in production.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { audit } from '../../../examples/server/audit.js';
import { schemaOf } from '../../../examples/server/schema.js';
import { nextIsAnswered, turnsAreAnswered } from '../../hosts/uploads/refused-uploads.js';
import { createPlant, expectExactPlants } from '../../support/plants.js';
import { freePort, type Program, startProgram, urlOf } from '../../support/program.js';
import { root } from '../../support/root.js';
import { newFile } from '../../support/run-folder.js';
import { named } from '../../support/titled.js';
import { type BuiltApp, builtApps } from './builds.js';
import { stop, tool } from './runtimes.js';

const builds = join(inject('runtimes'), 'builds');
/** In a test, srvx does not say where it listens. */
const quiet = {
  TEST: '',
  NODE_ENV: 'production',
  ASTRO_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  CI: 'true',
};

beforeAll(() => {
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const [{ filename }] = JSON.parse(
    npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', builds),
  );
  const flags = ['--no-save', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  npm(builds, 'install', ...flags, '--prefer-offline', join(builds, filename));
});

type Settings = Readonly<Record<string, string>>;

/** The environment of an app, also of its build: SvelteKit 3 takes its origin from its configuration. */
async function settingsOf({ env }: BuiltApp, DATABASE: string): Promise<Settings> {
  const PORT = `${await freePort()}`;
  return { ...quiet, PORT, HOST: '127.0.0.1', ORIGIN: `http://127.0.0.1:${PORT}`, DATABASE, ...env };
}

async function build(
  { name, files, build: [program, ...args] }: BuiltApp,
  settings: Settings,
): Promise<string> {
  const folder = join(builds, 'apps', name.replace(' ', '-'));
  const all = { 'package.json': '{ "private": true, "type": "module" }', ...files };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const command = [tool('node22/bin/node'), join(builds, 'node_modules', program!), ...args];
  const built = startProgram(command, settings, folder);
  expect(await built.exit, built.output()).toBe(0);
  return folder;
}

function start({ start: [program, ...args] }: BuiltApp, folder: string, settings: Settings): Program {
  const file = program!.replace('~', join(builds, 'node_modules/'));
  return startProgram([tool('node22/bin/node'), file, ...args], settings, folder);
}

describe.each(named(builtApps))('%s', (_, app) => {
  let settings: Settings;
  let program: Program;
  let url: string;
  beforeAll(async () => {
    const file = newFile();
    const database = new Database(file);
    database.exec(schemaOf('sqlite'));
    database.close();
    settings = await settingsOf(app, file);
    program = start(app, await build(app, settings), settings);
    url = await urlOf(program);
  }, 120_000);
  afterAll(() => stop(program));

  it('creates plants with exact ids, and its other pages are its own', async () => {
    await expectExactPlants(`${url}/api`);
    const errorOf = async (plant: string, token?: string) =>
      (await createPlant(`${url}/api`, plant, token)).body;
    expect(await errorOf('{"id":4,"name":"Ilex"}', 'wrong')).toMatchObject({ error: 40102 });
    expect(await errorOf('{"id":"4","name":"Ilex"}')).toMatchObject({ error: 40002 });
    expect(await errorOf('{')).toMatchObject({ error: 40001 });
    expect(await (await fetch(url)).text()).toContain('the app');
    expect(await (await fetch(`${url}/api/plants`)).text()).not.toMatch(/"error": ?4/);
  });

  const running = async () => ({
    url: `${url}/api`,
    port: 0,
    server: undefined as never,
    close: async () => {},
  });
  const host = { name: app.name, start: running };
  nextIsAnswered(host, 2);
  turnsAreAnswered(host);

  it('passes the audit', async () => {
    const lines: string[] = [];
    const options = { url: `${url}/api`, token: 'secret', forbiddenToken: undefined, ids: '123456789' };
    await audit(options, (line) => lines.push(line));
    expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([]);
  });

  it.runIf(app.keepsPlants)(
    'loses no plant when it is killed and built again',
    { timeout: 120_000 },
    async () => {
      expect(await createPlant(`${url}/api`, '{"id":7,"name":"Ilex"}')).toMatchObject({ status: 200 });
      program.child.kill('SIGKILL');
      await program.exit;
      program = start(app, await build(app, settings), settings);
      url = await urlOf(program);
      expect(await createPlant(`${url}/api`, '{"id":7,"name":"Ilex"}')).toMatchObject({
        status: 400,
        body: { error: 40003 },
      });
    },
  );
});
