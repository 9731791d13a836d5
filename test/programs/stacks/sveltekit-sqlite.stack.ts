import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort, type Program } from '../../support/program.js';
import { newFile } from '../../support/run-folder.js';
import { day, StackApp } from './app.js';
import { pageCases, signingUp } from './better-auth-app.js';
import { stackCases } from './cases.js';
import { readPage } from './page.js';

describe('SvelteKit and SQLite', () => {
  const app = new StackApp('sveltekit-sqlite');
  let env: Record<string, string>;
  let running: Program;
  let url = '';

  const tokenOf = signingUp(() => url);
  /** The commands that this page takes from that of Next. */
  const ofNext = (heading: string) =>
    readPage('next-turso')
      .commands(heading)
      .map((block) => block.replaceAll(/\blib\//g, 'src/lib/server/'));
  const ofPage = (command: string) => command.replaceAll('http://127.0.0.1:3000', url);

  beforeAll(async () => {
    url = `http://127.0.0.1:${await freePort()}`;
    env = { TURSO_DATABASE_URL: `file:${newFile()}`, BETTER_AUTH_URL: url, PORT: new URL(url).port };
    await app.install();
    for (const block of ofNext('The table')) await app.run(block, { ...env, npm_config_before: day });
    const [build, start] = app.page.commands('Run')[0]!.trim().split('\n');
    await app.run(build!, env);
    running = app.start(ofPage(start!), env);
    await running.printed(/Listening on/);
  });

  afterAll(() => void running?.child.kill('SIGKILL'));

  stackCases(() => ({ url, tokenOf }));

  pageCases(() => ({ url, tokenOf }));

  it('passes the test of its app, and the check of its types', async () => {
    for (const block of ofNext('Test')) expect(await app.run(block, env)).toMatch(/1 passed/);
    await app.run('npm run check');
  });

  it('does not start with a short secret', async () => {
    const weak = { ...env, BETTER_AUTH_SECRET: 'secret', PORT: `${await freePort()}` };
    const [, start] = app.page.commands('Run')[0]!.trim().split('\n');
    const started = app.start(ofPage(start!), weak);
    onTestFinished(() => void started.child.kill('SIGKILL'));
    await started.printed(/Set BETTER_AUTH_URL, and BETTER_AUTH_SECRET to 32 random characters/);
    expect(await started.exit).not.toBe(0);
  });

  it('ends at SIGTERM', async () => {
    running.child.kill('SIGTERM');
    expect([0, 143]).toContain(await running.exit);
  });
});
