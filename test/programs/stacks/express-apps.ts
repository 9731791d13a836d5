// What the pages of Express and of NestJS, which runs on Express, promise besides the cases of every page.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres.js';
import { freePort, type Program } from '../../support/program.js';
import type { StackApp } from './app.js';
import { stackCases } from './cases.js';
import { readPage } from './page.js';

interface ExpressApp {
  readonly app: StackApp;
  /** Its package, and how the version begins that is to be installed. */
  readonly framework: readonly [name: string, version: string];
  /** Installs the app, and writes its files. */
  readonly install: () => Promise<void>;
  /** The commands that make the table, the one that adds the user rosa, and the one that starts the app. */
  readonly commands: { readonly migrate: string; readonly addUser: string; readonly start: string };
  /** The commands that run its test. */
  readonly test: string;
}

const password = 'correct horse battery staple';
/** Callers of tenants that no command of a page knows. */
const users = { garden: 'lily', park: 'petra' } as const;
/** Of the Express page, to which that of NestJS refers. */
const createByCurl = () => readPage('express-postgres').commands('Test and run')[1]!;

export function describeExpressApp(title: string, stack: ExpressApp): void {
  const { app, commands } = stack;
  describe(title, () => {
    const tokens = new Map<string, Promise<string>>();
    let server: PostgresServer;
    let env: Record<string, string>;
    let running: Program;
    let url = '';

    const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
    const signIn = async (name: string) => {
      const response = await post('/jwt', { name, password });
      return ((await response.json()) as { token: string }).token;
    };
    const tokenOf = (tenant: 'garden' | 'park') => {
      if (!tokens.has(tenant)) tokens.set(tenant, signIn(users[tenant]));
      return tokens.get(tenant)!;
    };

    beforeAll(async () => {
      server = await PostgresServer.start();
      const PORT = `${await freePort()}`;
      env = { DATABASE_URL: server.url, PORT, NODE_ENV: 'production' };
      url = `http://127.0.0.1:${PORT}`;
      await stack.install();
      await app.run(commands.migrate, env);
      await app.run(commands.addUser, env);
      for (const [tenant, name] of Object.entries(users))
        await app.run(commands.addUser.replace("'rosa', 'garden'", `'${name}', 'tenant of ${tenant}'`), env);
      running = app.start(commands.start, env);
      await running.printed(/Listening on port/);
    });

    afterAll(async () => {
      running?.child.kill('SIGKILL');
      await server.close();
    });

    it('runs on the version that the title names', () => {
      const [name, version] = stack.framework;
      const manifest = readFileSync(join(app.folder, 'node_modules', name, 'package.json'), 'utf8');
      expect(JSON.parse(manifest).version.startsWith(version)).toBe(true);
    });

    stackCases(() => ({ url, tokenOf }));

    it('creates a plant by the commands of the page', async () => {
      const printed = await app.run(createByCurl().replaceAll('http://127.0.0.1:3000', url));
      expect(printed).toContain('{"name":"Rosa canina"}');
      expect(printed).toContain('"id":"9007199254740993"');
    });

    formCases(post, () => url);

    it('passes the test of the page', async () => {
      expect(await app.run(stack.test, env)).toMatch(/# pass 1\b/);
    });

    it('does not start without its secrets, or without its table', async () => {
      const start = (other: Record<string, string>) => app.run(commands.start, { ...env, ...other });
      await expect(start({ TOKEN_SECRET: 'secret' })).rejects.toThrow('Set DATABASE_URL, and SESSION_SECRET');
      const empty = await PostgresServer.start();
      await expect(start({ DATABASE_URL: empty.url })).rejects.toThrow('"plants": it does not exist');
      await empty.close();
    });

    it('responds to the request in flight when it is stopped', async () => {
      const token = await tokenOf('park');
      const status = await createWhile(url, token, async () => {
        running.child.kill('SIGTERM');
        // Until it listens no more.
        while (
          await fetch(url).then(
            (response) => response.text(),
            () => '',
          )
        );
      });
      expect([status, await running.exit]).toEqual([200, 0]);
    });
  });
}

type Post = (
  path: string,
  form: Record<string, string>,
  headers?: Record<string, string>,
) => Promise<Response>;

/** The login and the form. */
function formCases(post: Post, urlOf: () => string): void {
  const session = async (name: string) => {
    const response = await post('/login', { name, password });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    return { cookie: response.headers.get('set-cookie')!.split(';')[0]! };
  };
  const pageOf = async (name: string) => (await fetch(urlOf(), { headers: await session(name) })).text();

  it('creates a plant by the form of a session, and shows it to its tenant', async () => {
    const plant = { id: '9007199254740995', name: '<b>Rosa</b>', tag: '' };
    expect((await post('/plants', plant, await session('rosa'))).status).toBe(303);
    expect(await pageOf('rosa')).toContain('<li>9007199254740995 &lt;b&gt;Rosa&lt;/b&gt; </li>');
    expect(await pageOf('petra')).not.toContain('Rosa');
  });

  it('shows what is wrong in a form, and keeps the fields', async () => {
    const headers = await session('rosa');
    const shown = async (plant: Record<string, string>) => {
      const response = await post('/plants', plant, headers);
      return [response.status, await response.text()];
    };
    const enter = expect.stringMatching(/value="1\.5".*\n.*"id-error">Enter an integer/);
    expect(await shown({ id: '1.5', name: 'Rosa', tag: '' })).toEqual([400, enter]);
    const taken = expect.stringContaining('A plant with id 9007199254740995 exists.');
    expect(await shown({ id: '9007199254740995', name: 'Rosa', tag: '' })).toEqual([400, taken]);
  });

  it('rejects a wrong password, a form of another site, and a session that has ended', async () => {
    const login = await post('/login', { name: 'rosa', password: 'a guess' });
    expect([login.status, await login.text()]).toEqual([401, expect.not.stringContaining('a guess')]);
    expect((await post('/jwt', { name: 'nobody', password })).status).toBe(401);
    const headers = await session('rosa');
    const plant = { id: '8', name: 'Rosa', tag: '' };
    const foreign = await post('/plants', plant, { ...headers, 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    expect((await post('/logout', {}, headers)).status).toBe(303);
    expect((await post('/plants', plant, headers)).status).toBe(401);
  });
}

/** Begins to create a plant, awaits what happens meanwhile, and sends its body. Returns the status. */
async function createWhile(
  url: string,
  token: string,
  meanwhile: () => Promise<void>,
): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    expect: '100-continue',
  };
  const create = request(`${url}/api/plants`, { method: 'POST', headers });
  create.flushHeaders();
  await once(create, 'continue');
  await meanwhile();
  create.end('{"id":77,"name":"Quercus"}');
  const [response] = (await once(create, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
