import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../ecosystem/forms.js';
import { withoutChromium } from '../../support/chromium.js';
import { describeUnless } from '../../support/obstacle.js';
import { freePort, type Program } from '../../support/program.js';
import { newFile } from '../../support/run-folder.js';
import { StackApp } from './app.js';
import { stackCases } from './cases.js';
import { expectUsablePage } from './form-page.js';
import { readPage } from './page.js';

describe('SvelteKit and SQLite', () => {
  const app = new StackApp('sveltekit-sqlite');
  const tokens = new Map<string, Promise<string>>();
  let env: Record<string, string>;
  let running: Program;
  let url = '';

  const signUp = async (name: string) => {
    const body = JSON.stringify({ name, email: `${name}@example.com`, password: `password of ${name}` });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/auth/sign-up/email`, { method: 'POST', headers, body });
    return ((await response.json()) as { token: string }).token;
  };
  const tokenOf = (tenant: 'garden' | 'park') => {
    if (!tokens.has(tenant)) tokens.set(tenant, signUp(tenant));
    return tokens.get(tenant)!;
  };
  const ofPage = (command: string) => command.replaceAll('http://127.0.0.1:3000', url);

  beforeAll(async () => {
    url = `http://127.0.0.1:${await freePort()}`;
    env = { TURSO_DATABASE_URL: `file:${newFile()}`, BETTER_AUTH_URL: url, PORT: new URL(url).port };
    await app.install();
    for (const block of readPage('next-turso').commands('The table')) await app.run(block, env);
    const [build, start] = app.page.commands('Run');
    await app.run(build!, env);
    running = app.start(ofPage(start!), env);
    await running.printed(/Listening on/);
  });

  afterAll(() => void running?.child.kill('SIGKILL'));

  stackCases(() => ({ url, tokenOf }));

  describeUnless(withoutChromium, 'its page', () => {
    it.each([true, false])('shows results and the new list, JavaScript in the browser: %s', async (isOn) => {
      await tokenOf('garden');
      const browser = await launchChromium();
      onTestFinished(() => browser.close());
      const garden = { email: 'garden@example.com', password: 'password of garden' };
      const ids = isOn ? (['9007199254740995', '7'] as const) : (['9007199254740997', '8'] as const);
      await expectUsablePage(browser, url, isOn, garden, ids);
    });
  });

  it('passes the test of its app, and the check of its types', async () => {
    for (const block of readPage('next-turso').commands('Test'))
      expect(await app.run(block)).toMatch(/1 passed/);
    await app.run('npm run check');
  });

  it('does not start with a short secret', async () => {
    const weak = { ...env, BETTER_AUTH_SECRET: 'secret', PORT: `${await freePort()}` };
    const [, start] = app.page.commands('Run');
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
