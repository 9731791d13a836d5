import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { obstacleOfSqld, startSqld } from '../../ecosystem/sqld.js';
import { freePort, type Program } from '../../support/program.js';
import { newFile } from '../../support/run-folder.js';
import { day, StackApp } from './app.js';
import { pageCases, signingUp } from './better-auth-app.js';
import { stackCases } from './cases.js';

/** What the page says to leave out where cacheComponents are off. */
const withoutInstant = (text: string) => text.replace(/^export const instant .*\n/m, '');

const ages = [
  {
    title: 'Next of today',
    next: '16.',
    isCached: true,
    isServer: true,
    options: {},
  },
  {
    title: 'Next without cacheComponents',
    next: '16.',
    isCached: false,
    isServer: false,
    options: { replace: withoutInstant },
  },
  {
    title: 'Next of November 2024',
    next: '15.0.',
    isCached: false,
    isServer: false,
    options: {
      replace: (text: string) =>
        withoutInstant(text)
          .replace('create-next-app@latest', 'create-next-app@15.0.3')
          // It has a release candidate of React, which no package names as its peer.
          .replace(/^npm install /gm, 'npm install --legacy-peer-deps '),
    },
  },
];

describe.each(ages)('$title', ({ next, isCached, isServer, options }) => {
  const app = new StackApp('next-turso', options);
  let database: Awaited<ReturnType<typeof startSqld>> | undefined;
  let env: Record<string, string>;
  let running: Program;
  let url = '';

  const tokenOf = signingUp(() => url);

  beforeAll(async () => {
    if (isServer && !obstacleOfSqld()) database = await startSqld();
    url = `http://127.0.0.1:${await freePort()}`;
    const TURSO_DATABASE_URL = database?.url ?? `file:${newFile()}`;
    env = { TURSO_DATABASE_URL, BETTER_AUTH_URL: url, PORT: new URL(url).port, NEXT_TELEMETRY_DISABLED: '1' };
    await app.install();
    const config = readFileSync(join(app.folder, 'next.config.ts'), 'utf8');
    if (!isCached)
      app.write({
        'next.config.ts': config.replace(/^.*(cacheComponents|partialPrefetching): true.*\n/gm, ''),
      });
    expect(config.includes('cacheComponents: true')).toBe(next === '16.');
    for (const block of app.page.commands('The table'))
      await app.run(block, { ...env, npm_config_before: day });
    const [build, start] = app.page.commands('Run')[0]!.trim().split('\n');
    await app.run(build!, env);
    running = app.start(start!, env);
    await running.printed(/Ready in/);
  });

  afterAll(async () => {
    running?.child.kill('SIGKILL');
    await database?.stop();
  });

  it('runs on the version that the page names', async () => {
    expect(await app.run(`node -p "require('next/package.json').version"`)).toMatch(new RegExp(`^${next}`));
  });

  stackCases(() => ({ url, tokenOf }));

  it('creates a plant by the commands of the page', async () => {
    const printed = await app.run(app.page.commands('Run')[1]!.replaceAll('http://127.0.0.1:3000', url));
    expect(printed).toContain('{"name":"Rosa canina"}');
    expect(printed).toContain('"id":"9007199254740993"');
  });

  pageCases(() => ({ url, tokenOf }));

  it('passes its own test', async () => {
    for (const block of app.page.commands('Test')) expect(await app.run(block, env)).toMatch(/1 passed/);
  });

  it('does not start with a short secret', async () => {
    const [, start] = app.page.commands('Run')[0]!.trim().split('\n');
    const weak = app.start(start!, { ...env, BETTER_AUTH_SECRET: 'secret', PORT: `${await freePort()}` });
    onTestFinished(() => void weak.child.kill('SIGKILL'));
    await weak.printed(/Set BETTER_AUTH_URL, and BETTER_AUTH_SECRET to 32 random characters/);
    expect(await weak.exit).not.toBe(0);
  });

  it('ends at SIGTERM', async () => {
    running.child.kill('SIGTERM');
    expect([0, 143]).toContain(await running.exit);
  });
});
