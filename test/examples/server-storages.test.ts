import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownServer } from '../storages/postgres-server.js';
import { Creators } from '../support/creators.js';
import { type Program, paste, portOf, runExample, startExample } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';

const own = ownServer();
const folder = newFolder();
const letter = join(folder, 'letter.db');
writeFileSync(letter, 'Dear gardener, this is no database, though it is long enough for one. '.repeat(50));

function start(databaseUrl: string): Program {
  return runExample('server', { DATABASE_URL: databaseUrl });
}

async function listening(program: Program): Promise<Creators> {
  return new Creators(await portOf(program));
}

/** Starts a server for each URL: it must print one line with these words and exit with 1. */
async function fails(cases: Record<string, string | RegExp>): Promise<void> {
  const starts = Object.entries(cases).map(async ([url, words]) => {
    const program = startExample('server', { DATABASE_URL: url });
    expect(await program.exit, url).toBe(1);
    expect(program.output()).toMatch(words);
    expect(program.output()).toMatch(/^plant-store: .*\n$/);
    expect(program.output()).not.toContain('thorn');
  });
  await Promise.all(starts);
}

describe('the demo server on a database', () => {
  it('prints its address, its token and a curl of a free id that creates a plant when pasted, at each start', async () => {
    const url = `file://${join(folder, 'two words.db').replace(' ', '%20')}`;
    for (const id of [1, 2]) {
      const program = start(url);
      const [curl] = await program.printed(/curl -i .*/);
      expect(program.output()).toContain('for-evaluation-only');
      expect(curl).toContain(`http://127.0.0.1:${await portOf(program)}/plants`);
      expect(curl).toContain(`{"id":${id},`);
      expect(await paste(curl)).toMatch(
        /^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\n\{"name":"Rosa canina","tag":"shrub"\}$/,
      );
      expect(await paste(curl)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":40003/);
      program.child.kill('SIGTERM');
      await program.exit;
    }
  });

  it('prints the error of a driver as one clear line, and exits with 1', async () => {
    const missing = join(folder, 'no-such-folder');
    await fails({
      [`file:${missing}/plants.db`]: `cannot write to the directory ${missing}: Error ENOENT. There is no such file or folder`,
      [`file:${folder}`]: `cannot write to the file ${folder}: it is a directory`,
      [`file:${letter}`]: /cannot open \S+letter\.db: .*The file is no database/,
      'postgres://rose:thorn@127.0.0.1:1/garden':
        'cannot open PostgreSQL at 127.0.0.1:1, database garden: createTable() got no connection to the database: connect ECONNREFUSED',
      [own.server.url.replace('/postgres?', '/meadow?')]: 'database "meadow" does not exist',
    });
  });
});

describe('several servers on one database', () => {
  it.each([
    ['SQLite', () => `file:${join(folder, 'shared.db')}`],
    ['PostgreSQL', () => own.server.url],
  ])(
    'start at the same time, and exactly one of 32 racing creates of one id returns 200 (%s)',
    async (_, url) => {
      const servers = await Promise.all([1, 2, 3].map(() => listening(start(url()))));
      for (let id = 100; id < 110; id++) {
        const racing = Array.from({ length: 32 }, (_, i) => servers[i % servers.length]!.create(id));
        const statuses = (await Promise.all(racing)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(1);
        expect(statuses.filter((status) => status === 400)).toHaveLength(31);
      }
    },
  );
});
