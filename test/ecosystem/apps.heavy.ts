// Four apps as they were two years ago, each with its usual company, take the package: they install it, pass their own tests,
// are bundled, and run without their development packages.
import { createHmac } from 'node:crypto';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packedPackage } from '../support/package.js';
import { PostgresServer } from '../support/postgres.js';
import { startProgram, urlOf } from '../support/program.js';
import { root } from '../support/root.js';

/** By their folders in `apps/`. */
const apps = {
  'express-sequelize': { bundle: 'server.js', start: 'dist/server.js', isCompiled: true },
  'nest-typeorm': { bundle: 'server.js', start: 'dist/main.js', isCompiled: true },
  'fastify-knex': { bundle: 'server.cjs', start: 'server.js' },
  'koa-better-sqlite3': { bundle: 'index.js', start: 'server.js', addon: 'better-sqlite3' },
} as const;

const secret = 'a secret of the app, of 32 bytes and more';
const signed = [{ alg: 'HS256', typ: 'JWT' }, { sub: 'jane' }].map(base64url).join('.');
const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;

/** Where Node finds no package of the repository. */
const temp = mkdtempSync(join(tmpdir(), 'plant-store-apps-'));
let tarball: string;
let server: PostgresServer;

beforeAll(async () => {
  [tarball, server] = await Promise.all([packedPackage(), PostgresServer.start({ fsync: 'off' })]);
});
afterAll(async () => {
  await server.close();
  rmSync(temp, { recursive: true });
});

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const environment = () => ({
  DATABASE_URL: server.url,
  SECRET: secret,
  // Without optimization, an addon compiles in half of the time.
  CFLAGS: '-O0',
  CXXFLAGS: '-O0',
});

/** Runs a command to its end, and returns what it has printed. */
async function run(folder: string, ...command: string[]): Promise<string> {
  const program = startProgram(command, environment(), folder);
  const code = await program.exit;
  if (code !== 0) throw new Error(`${command.join(' ')} returned ${code}:\n${program.output()}`);
  return program.output();
}

/** Starts an app, and returns what its clients get: without a token, with one, and from a route of its own. */
async function responsesOf(folder: string, id: number, file: string) {
  const program = startProgram([process.execPath, file], environment(), folder);
  try {
    const url = `${await urlOf(program)}/api/plants`;
    const request = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = `{"id":${id},"name":"Fern"}`;
    const authorization = `Bearer ${token}`;
    const denied = await fetch(url, { ...request, body });
    const created = await fetch(url, { ...request, body, headers: { ...request.headers, authorization } });
    const own = await fetch(url, { headers: { authorization } });
    return [denied.status, created.status, await created.text(), own.status, await own.text()];
  } finally {
    program.child.kill('SIGKILL');
    await program.exit;
  }
}

const expectedOf = (id: number) => [
  401,
  200,
  '{"name":"Fern"}',
  200,
  expect.stringMatching(`"id":"${id}","name":"Fern"`),
];

it.concurrent.each(Object.entries(apps))('%s takes the package', { timeout: 600_000 }, async (name, app) => {
  const folder = join(temp, name);
  cpSync(join(root, 'test/ecosystem/apps', name), folder, { recursive: true });
  const npm = (...args: string[]) => run(folder, 'npm', ...args);
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];

  await npm('install', ...flags);
  if ('addon' in app) await npm('rebuild', app.addon, '--ignore-scripts=false');
  const printed = await npm('install', `plant-store@file:${tarball}`, ...flags);
  expect(printed.trim()).toMatch(/^added 2 packages in \S+$/);
  await npm('ls');

  await npm('test');

  if ('isCompiled' in app) await npm('run', 'build');
  await npm('run', 'bundle');
  const alone = mkdtempSync(join(temp, 'alone-'));
  cpSync(join(folder, 'bundle'), alone, { recursive: true });
  expect(await responsesOf(alone, 101, app.bundle)).toEqual(expectedOf(101));

  if ('addon' in app) {
    // What a container does, from the lock file alone. In the app with the fewest packages: it takes npm as long as the first install.
    // To compile an addon takes half a minute of a core: once.
    const addon = join(folder, 'node_modules', app.addon, 'build');
    const kept = join(folder, 'kept');
    renameSync(addon, kept);
    await npm('ci', '--omit=dev', ...flags);
    renameSync(kept, addon);
  } else {
    await npm('prune', '--omit=dev', ...flags);
  }
  expect(await responsesOf(folder, 102, app.start)).toEqual(expectedOf(102));
});
