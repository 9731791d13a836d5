import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Creators } from '../support/creators.js';
import { PostgresServer } from '../support/postgres.js';
import { type Program, portOf, runExample } from '../support/program.js';

let database: PostgresServer;
let folder: string;

beforeAll(async () => {
  database = await PostgresServer.start();
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  writeFileSync(
    join(folder, 'letter.db'),
    'Dear gardener, this is no database, though it is long enough for one. '.repeat(50),
  );
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

function start(databaseUrl: string): Program {
  return runExample('server', { DATABASE_URL: databaseUrl });
}

async function listening(program: Program): Promise<Creators> {
  return new Creators(await portOf(program));
}

describe('the evaluation server on a database', () => {
  it.each([
    ['SQLite', () => `file:${join(folder, 'plants.db')}`],
    ['SQLite, by an absolute URL', () => `file://${join(folder, 'two words.db').replace(' ', '%20')}`],
    ['PostgreSQL', () => database.url],
  ])('still has its plants after a restart (%s)', async (_, url) => {
    const first = start(url());
    expect(await (await listening(first)).create(1)).toEqual({ status: 200, body: '{"name":"plant 1"}' });
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);
    const second = await listening(start(url()));
    expect(await second.create(1)).toMatchObject({
      status: 400,
      body: expect.stringContaining('"error":40003'),
    });
    expect(await second.create(2)).toMatchObject({ status: 200 });
  });

  it('prints the error of a driver as one clear line without the password, and exits with 1', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as { port: number };
    nobody.close();
    await once(nobody, 'close');
    const missing = join(folder, 'no-such-folder', 'plants.db');
    const cases: [string, RegExp][] = [
      [`file:${missing}`, /no-such-folder/],
      [`file:${folder}`, /unable to open|Unable to open/],
      [`file:${join(folder, 'letter.db')}`, /not a database/],
      [`postgres://rose:thorn@127.0.0.1:${port}/plants`, /rose:…@127\.0\.0\.1.*ECONNREFUSED/],
      [`postgres://rose@localhost:${port}/plants?password=thorn`, /ECONNREFUSED/],
      [database.url.replace('/postgres?', '/meadow?'), /database "meadow" does not exist/],
    ];
    await Promise.all(
      cases.map(async ([url, message]) => {
        const program = start(url);
        expect(await program.exit).toBe(1);
        expect(program.output()).toMatch(message);
        expect(program.output()).toMatch(/^plant-store: cannot use DATABASE_URL .*\n$/);
        expect(program.output()).not.toContain('thorn');
      }),
    );
  });
});

describe('several servers on one database', () => {
  it.each([
    ['SQLite', () => `file:${join(folder, 'shared.db')}`],
    ['PostgreSQL', () => database.url],
  ])(
    'start at the same time, and of 32 racing creates of one id exactly one gets 200 (%s)',
    async (_, url) => {
      const servers = await Promise.all([1, 2, 3].map(() => listening(start(url()))));
      for (let id = 100; id < 120; id++) {
        const racing = Array.from({ length: 32 }, (_, i) => servers[i % servers.length]!.create(id));
        const statuses = (await Promise.all(racing)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(1);
        expect(statuses.filter((status) => status === 400)).toHaveLength(31);
      }
    },
  );
});
