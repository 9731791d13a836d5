import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOn } from '../../../examples/server/stacks.js';
import { packedPackage } from '../../support/package.js';
import { freePort, type Program } from '../../support/program.js';
import { root } from '../../support/root.js';
import { StackApp } from './app.js';
import { stackCases } from './cases.js';

const page = readFileSync(join(root, 'examples/stacks/bun-deno-sqlite.md'), 'utf8');
const onDeno = (text: string) => textOn('deno', page, text);

/** The other packages by npm, which alone knows how to take them as of a day. */
const byNpm = (text: string) =>
  text.replace(
    /^(?:bun|deno) add (.*)$/m,
    (_, names: string) => `npm install ${names.replaceAll('npm:', '').replace('plant-store', '')}`,
  );

/** The folder with both runtimes: of `RUNTIMES`, or from npm. */
function runtimes(): string {
  const { RUNTIMES } = process.env;
  if (RUNTIMES && existsSync(join(RUNTIMES, 'node_modules/.bin/bun'))) return RUNTIMES;
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-runtimes-'));
  const quiet = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts=false'];
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, 'bun@1.4.5', 'deno@2.9.6'], {
    stdio: 'ignore',
  });
  return folder;
}

const runtimesOfPage = [
  { runtime: 'Bun', replace: (text: string) => byNpm(text), passed: /1 pass\b/ },
  { runtime: 'Deno', replace: (text: string) => byNpm(onDeno(text)), passed: /1 passed/ },
];

describe.each(runtimesOfPage)('$runtime with SQLite', ({ replace, passed }) => {
  const app = new StackApp('bun-deno-sqlite', { replace });
  const env: Record<string, string> = { NO_COLOR: '1' };
  let running: Program;
  let url = '';
  let secret: Uint8Array;
  const tokenOf = (tenant: string) =>
    new SignJWT({ tenant })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('plants')
      .setExpirationTime('5m')
      .sign(secret);

  beforeAll(async () => {
    env.PATH = `${join(runtimes(), 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
    env.PORT = `${await freePort()}`;
    url = `http://127.0.0.1:${env.PORT}`;
    await app.install();
    await app.run(`npm install ${await packedPackage()}`);
    const variables = readFileSync(join(app.folder, '.env'), 'utf8');
    secret = new TextEncoder().encode(/^JWT_SECRET=(.*)$/m.exec(variables)![1]!);
    running = app.start(app.page.commands('Run')[0]!, env);
    await running.printed(/Listening on port/);
  });

  afterAll(() => {
    running?.child.kill('SIGKILL');
  });

  stackCases(() => ({ url, tokenOf }));

  it('creates a plant by the commands of the page', async () => {
    const [, command] = app.page.commands('Run');
    const printed = await app.run(
      command!.replace('http://127.0.0.1:3000', url).replace("'garden'", "'terrace'"),
      env,
    );
    expect(printed).toContain('{"name":"Rosa canina"}');
  });

  it('passes the test of the page', async () => {
    expect(await app.run(app.page.commands('Test')[0]!, env)).toMatch(passed);
  });

  it('does not start without its secret', async () => {
    const start = app.page.commands('Run')[0]!;
    await expect(app.run(start, { ...env, JWT_SECRET: 'secret' })).rejects.toThrow('Set DATABASE to');
  });

  it('stops on SIGTERM, and leaves one file of the database', async () => {
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(existsSync(join(app.folder, 'plants.db'))).toBe(true);
    expect(existsSync(join(app.folder, 'plants.db-wal'))).toBe(false);
  });
});
