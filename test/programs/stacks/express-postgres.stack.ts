import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres.js';
import { freePort, type Program } from '../../support/program.js';
import { pinned, StackApp } from './app.js';
import { stackCases } from './cases.js';

const password = 'correct horse battery staple';
/** Callers of tenants that no command of the page knows. */
const users = { garden: 'lily', park: 'petra' } as const;

const ages = [
  { title: 'with the packages of today', options: {}, express: '5.' },
  {
    title: 'with Express 4 and the packages of two years ago',
    options: {
      replace: pinned(
        'express@4.21.1',
        'express-session@1.18.1',
        'connect-pg-simple@10.0.0',
        'knex@3.1.0',
        'pg@8.13.1',
        'ejs@3.1.10',
        'jsonwebtoken@9.0.2',
        'supertest@7.0.0',
      ),
    },
    express: '4.21.1',
  },
];

describe.each(ages)('Express and PostgreSQL, $title', ({ options, express }) => {
  const app = new StackApp('express-postgres', options);
  const tokens = new Map<string, Promise<string>>();
  let server: PostgresServer;
  let env: Record<string, string>;
  let running: Program;
  let url = '';

  const commandsOf = (heading: string) => app.page.commands(heading);
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  const signIn = async (name: string) => {
    const response = await post('/token', { name, password });
    return ((await response.json()) as { token: string }).token;
  };
  const tokenOf = (tenant: 'garden' | 'park') => {
    if (!tokens.has(tenant)) tokens.set(tenant, signIn(users[tenant]));
    return tokens.get(tenant)!;
  };
  const session = async (name: string) => {
    const response = await post('/login', { name, password });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    return { cookie: response.headers.get('set-cookie')!.split(';')[0]! };
  };

  beforeAll(async () => {
    server = await PostgresServer.start();
    const PORT = `${await freePort()}`;
    env = { DATABASE_URL: server.url, PORT, DRAIN_MS: '0', NODE_ENV: 'production' };
    url = `http://127.0.0.1:${PORT}`;
    await app.install();
    for (const block of [...commandsOf('The table'), ...commandsOf('Who calls')]) await app.run(block, env);
    for (const [tenant, name] of Object.entries(users)) {
      const [addRosa] = commandsOf('Who calls');
      await app.run(addRosa!.replace("'rosa', 'garden'", `'${name}', 'tenant of ${tenant}'`), env);
    }
    running = app.start(commandsOf('Run')[0]!, env);
    await running.printed(/Listening on port/);
  });

  afterAll(async () => {
    running?.child.kill('SIGKILL');
    await server.close();
  });

  it('runs on the version that the page names', async () => {
    expect(await app.run(`node -p "require('express/package.json').version"`)).toContain(express);
  });

  stackCases(() => ({ url, tokenOf }));

  it('creates a plant by the commands of the page', async () => {
    const printed = await app.run(commandsOf('Run')[1]!.replaceAll('http://127.0.0.1:3000', url));
    expect(printed).toContain('{"name":"Rosa canina"}');
    expect(printed).toContain('"id":"9007199254740993"');
  });

  it('creates a plant by the form of a session, and shows it to its tenant', async () => {
    const headers = await session('rosa');
    const created = await post('/plants', { id: '9007199254740995', name: '<b>Rosa</b>', tag: '' }, headers);
    expect(created.status).toBe(303);
    const page = await (await fetch(url, { headers })).text();
    expect(page).toContain('<li>9007199254740995 &lt;b&gt;Rosa&lt;/b&gt; </li>');
    expect(await (await fetch(url, { headers: await session('petra') })).text()).not.toContain('Rosa');
  });

  it('shows what is wrong in a form, and keeps the fields', async () => {
    const headers = await session('rosa');
    const wrong = await post('/plants', { id: '1.5', name: 'Rosa', tag: '' }, headers);
    const text = await wrong.text();
    expect([wrong.status, text]).toEqual([
      400,
      expect.stringMatching(/value="1\.5"><\/label> Enter an integer/),
    ]);
    await post('/plants', { id: '7', name: 'Rosa', tag: '' }, headers);
    const taken = await post('/plants', { id: '7', name: 'Rosa', tag: '' }, headers);
    expect([taken.status, await taken.text()]).toEqual([
      400,
      expect.stringContaining('A plant with id 7 exists.'),
    ]);
  });

  it('rejects a wrong password, a form of another site, and a session that has ended', async () => {
    const { status } = await post('/login', { name: 'rosa', password: 'wrong' });
    expect(status).toBe(401);
    expect((await post('/token', { name: 'nobody', password })).status).toBe(401);
    const headers = await session('rosa');
    const plant = { id: '8', name: 'Rosa', tag: '' };
    const foreign = await post('/plants', plant, { ...headers, 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    expect((await post('/logout', {}, headers)).status).toBe(303);
    expect((await post('/plants', plant, headers)).status).toBe(401);
  });

  it('passes the test of the page', async () => {
    expect(await app.run(commandsOf('Test')[0]!, env)).toMatch(/# pass 1\b/);
  });

  it('does not start without its secrets, or without its table', async () => {
    const start = commandsOf('Run')[0]!;
    await expect(app.run(start, { ...env, TOKEN_SECRET: 'secret' })).rejects.toThrow(
      'Set DATABASE_URL, and SESSION',
    );
    const other = await PostgresServer.start();
    await expect(app.run(start, { ...env, DATABASE_URL: other.url })).rejects.toThrow(
      '"plants": it does not exist',
    );
    await other.close();
  });

  it('responds to the request in flight when it is stopped', async () => {
    const headers = {
      authorization: `Bearer ${await tokenOf('park')}`,
      'content-type': 'application/json',
      expect: '100-continue',
    };
    const create = request(`${url}/api/plants`, { method: 'POST', headers });
    create.flushHeaders();
    await once(create, 'continue');
    running.child.kill('SIGTERM');
    // Until it listens no more.
    while (await fetch(`${url}/readyz`).then(Boolean, () => false));
    create.end('{"id":77,"name":"Quercus"}');
    const [response] = (await once(create, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, await running.exit]).toEqual([200, 0]);
  });
});
