// What the pages of Workers share: wrangler's local mode, in the runtime of Cloudflare.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort, type Program } from '../../support/program.js';
import { StackApp } from './app.js';
import { stackCases } from './cases.js';
import { pathWithNode22 } from './newer-node.js';

/** Starts wrangler itself, which gets the signals: npx would not pass them on. */
const replace = (text: string) => text.replace(/^npx wrangler dev/m, './node_modules/.bin/wrangler dev');

/**
 * Registers the cases of an app on Workers.
 *
 * @param files what another page writes over the app of `hono-workers.md`
 */
export function workerCases(files: Readonly<Record<string, string>> = {}): void {
  const app = new StackApp('hono-workers', { replace });
  const env: Record<string, string> = { WRANGLER_SEND_METRICS: 'false' };
  const commandsOf = (heading: string) => app.page.commands(heading);
  let running: Program;
  let url = '';
  let secret: Uint8Array;

  const tokenOf = (tenant: string, audience = 'plants') =>
    new SignJWT({ tenant })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(secret);

  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: url, ...headers },
      redirect: 'manual',
    });

  beforeAll(async () => {
    env.PATH = pathWithNode22();
    const port = await freePort();
    url = `http://localhost:${port}`;
    await app.install();
    app.write(files);
    await app.run(`sed -i 's/localhost:8787/localhost:${port}/' .dev.vars`);
    const variables = readFileSync(join(app.folder, '.dev.vars'), 'utf8');
    secret = new TextEncoder().encode(/^JWT_SECRET=(.*)$/m.exec(variables)![1]!);
    for (const block of commandsOf('The table')) await app.run(block, env);
    running = app.start(
      `${commandsOf('Run')[0]!.trim()} --port ${port} --inspector-port ${await freePort()}`,
      env,
    );
    await running.printed(/Ready on/);
  });

  afterAll(async () => {
    running?.child.kill('SIGTERM');
    await running?.exit;
  });

  stackCases(() => ({ url, tokenOf }));

  it('accepts no token for others, without an expiry or without a signature', async () => {
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"aud":"plants","tenant":"garden"}')}.`;
    const forever = new SignJWT({ tenant: 'garden' })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('plants');
    for (const token of [await tokenOf('garden', 'animals'), unsigned, await forever.sign(secret)]) {
      const response = await fetch(`${url}/api/plants`, { headers: { authorization: `Bearer ${token}` } });
      expect(response.status).toBe(401);
    }
  });

  it('creates a plant by the commands of the page, and signs a user up', async () => {
    const printed = await app
      .run(commandsOf('Run')[1]!.replaceAll('http://localhost:8787', url), {
        ...env,
      })
      .catch((error: Error) => error.message);
    // The cases have this plant of this tenant already.
    expect(printed).toContain('"error":40003');
    expect(printed).toContain('{"id":"9007199254740993"');
    expect(printed).toContain('"email":"rosa@example.com"');
  });

  it('creates a plant by the form of a session, in a tenant of the user alone', async () => {
    const wrong = await post('/login', { email: 'rosa@example.com', password: 'wrong' });
    expect([wrong.status, await wrong.text()]).toEqual([
      401,
      expect.stringContaining('Invalid email or password'),
    ]);
    const signedIn = await post('/login', { email: 'rosa@example.com', password: 'correct horse' });
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
    const headers = { cookie: signedIn.headers.get('set-cookie')!.split(';')[0]! };

    const plant = { id: '9007199254740995', name: '<b>Rosa</b>', tag: '' };
    expect((await post('/', plant, headers)).status).toBe(303);
    const page = await (await fetch(url, { headers })).text();
    expect(page.match(/<li>.*?<\/li>/g)).toEqual(['<li>9007199254740995 &lt;b&gt;Rosa&lt;/b&gt;</li>']);
    const taken = await post('/', plant, headers);
    expect([taken.status, await taken.text()]).toEqual([
      400,
      expect.stringContaining('id 9007199254740995 exists'),
    ]);
    const invalid = await post('/', { ...plant, id: '1.5' }, headers);
    expect([invalid.status, await invalid.text()]).toEqual([400, expect.stringContaining('value="1.5"')]);
    expect((await post('/', plant, { ...headers, origin: 'https://other.example' })).status).toBe(403);
    expect((await post('/', plant)).headers.get('location')).toBe('/login');
  });

  it('passes the checks and the test of the page', async () => {
    expect(await app.run(commandsOf('Test')[0]!, { ...env, NO_COLOR: '1' })).toMatch(/Tests +1 passed/);
  }, 400_000);

  it('stops on SIGTERM', async () => {
    running.child.kill('SIGTERM');
    await running.exit;
    await expect(fetch(url)).rejects.toThrow();
  });

  // After the stop: wrangler would restart the Worker with the changed variables.
  it('does not start without its secrets', async () => {
    await app.run("sed -i '/^JWT_SECRET/d' .dev.vars");
    await expect(app.run(commandsOf('Run')[0]!, env)).rejects.toThrow(
      'JWT_SECRET must have 32 random characters',
    );
  }, 400_000);
}
