import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mariaDbObstacle } from '../../storages/fault-mariadb.js';
import { describeUnless } from '../../support/obstacle.js';
import { freePort, type Program } from '../../support/program.js';
import { type MariaDb, oneMariaDb } from '../cluster/galera.js';
import { clean } from '../cluster/machine.js';
import { StackApp } from './app.js';
import { stackCases } from './cases.js';

const password = 'correct horse battery staple';
/** Callers of tenants that no command of the page knows. */
const users = { garden: 'lily', park: 'petra' } as const;

describeUnless(mariaDbObstacle, 'Fastify and MariaDB', () => {
  const app = new StackApp('fastify-mysql');
  const [commands, createByCurl] = app.page.commands('Test and run');
  const [build, migrate, addUser, runTest, serve] = commands!.trim().split('\n');
  const tokens = new Map<string, Promise<string>>();
  let server: MariaDb;
  let env: Record<string, string>;
  let running: Program;
  let url = '';

  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  const newToken = async (name: string) => {
    const response = await post('/jwt', { name, password });
    return ((await response.json()) as { token: string }).token;
  };
  const tokenOf = (tenant: 'garden' | 'park') => {
    if (!tokens.has(tenant)) tokens.set(tenant, newToken(users[tenant]));
    return tokens.get(tenant)!;
  };
  const session = async (name: string) => {
    const response = await post('/login', { name, password });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    return { cookie: response.headers.get('set-cookie')!.split(';')[0]! };
  };

  beforeAll(async () => {
    server = await oneMariaDb();
    const PORT = `${await freePort()}`;
    env = { DATABASE_URL: server.url, PORT, NODE_ENV: 'production' };
    url = `http://127.0.0.1:${PORT}`;
    await app.install();
    await app.run(`${build}\n${migrate}\n${addUser}`, env);
    for (const [tenant, name] of Object.entries(users))
      await app.run(addUser!.replace("'rosa', 'garden'", `'${name}', 'tenant of ${tenant}'`), env);
    running = app.start(serve!, env);
    await running.printed(/Listening on port/);
  });

  afterAll(async () => {
    running?.child.kill('SIGKILL');
    await clean([server.daemon], server.daemon.folder);
  });

  stackCases(() => ({ url, tokenOf }));

  it('creates a plant by the commands of the page', async () => {
    const printed = await app.run(createByCurl!.replaceAll('http://127.0.0.1:3000', url));
    expect(printed).toContain('{"name":"Rosa canina"}');
    expect(printed).toContain('"id":"9007199254740993"');
  });

  it('creates a plant by the form of a session, and shows it to its tenant', async () => {
    const headers = await session('rosa');
    const created = await post('/plants', { id: '9007199254740995', name: '<b>Rosa</b>', tag: '' }, headers);
    expect(created.status).toBe(303);
    const page = await (await fetch(url, { headers })).text();
    expect(page).toContain('<li>9007199254740995 &#60;b&#62;Rosa&#60;/b&#62;</li>');
    expect(await (await fetch(url, { headers: await session('petra') })).text()).not.toContain('Rosa');
  });

  it('shows what is wrong in a form, and keeps the fields', async () => {
    const headers = await session('rosa');
    const wrong = await post('/plants', { id: '1.5', name: 'Rosa', tag: '' }, headers);
    const text = await wrong.text();
    expect([wrong.status, text]).toEqual([400, expect.stringContaining('id: Enter an integer')]);
    expect(text).toContain('value="1.5"');
    await post('/plants', { id: '7', name: 'Rosa', tag: '' }, headers);
    const taken = await post('/plants', { id: '7', name: 'Rosa', tag: '' }, headers);
    expect([taken.status, await taken.text()]).toEqual([
      400,
      expect.stringContaining('A plant with id 7 exists.'),
    ]);
  });

  it('rejects a wrong password, a changed token, a form of another site and one without a session', async () => {
    const login = await post('/login', { name: 'rosa', password: 'a guess' });
    expect([login.status, await login.text()]).toEqual([401, expect.not.stringContaining('a guess')]);
    expect((await post('/jwt', { name: 'nobody', password })).status).toBe(401);
    const headers = { authorization: `Bearer ${await tokenOf('park')}x` };
    expect((await fetch(`${url}/api/plants`, { headers })).status).toBe(401);
    const plant = { id: '8', name: 'Rosa', tag: '' };
    const foreign = { ...(await session('rosa')), 'sec-fetch-site': 'cross-site' };
    expect((await post('/plants', plant, foreign)).status).toBe(403);
    expect((await post('/plants', plant)).status).toBe(401);
  });

  it('passes the test of the page', async () => {
    expect(await app.run(runTest!, env)).toMatch(/# pass 1\b/);
  });

  it('does not start without its secrets, or without its table', async () => {
    await expect(app.run(serve!, { ...env, SESSION_KEY: 'secret' })).rejects.toThrow(
      'Set DATABASE_URL, SESSION',
    );
    await server.query('CREATE DATABASE other');
    const other = server.url.replace(/plants$/, 'other');
    await expect(app.run(serve!, { ...env, DATABASE_URL: other })).rejects.toThrow(/plants.*does not exist/);
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
    while (await fetch(url).then(Boolean, () => false));
    create.end('{"id":77,"name":"Quercus"}');
    const [response] = (await once(create, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, await running.exit]).toEqual([200, 0]);
  });
});
