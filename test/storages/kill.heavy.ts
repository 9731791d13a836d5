import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Creators, missingOf } from '../support/creators.js';
import { PostgresServer } from '../support/postgres.js';
import { type Program, portOf, runExample } from '../support/program.js';
import { randomOf, seed } from '../support/random.js';
import { newFolder } from '../support/run-folder.js';

const random = randomOf(seed);
const rounds = 8;
const creatorCount = 24;

async function serve(databaseUrl: string): Promise<[Program, number]> {
  const program = runExample('server', { DATABASE_URL: databaseUrl });
  return [program, await portOf(program)];
}

const sqliteFile = () => `file:${join(newFolder(), 'plants.db')}`;

async function postgresUrl(): Promise<string> {
  const server = await PostgresServer.start();
  onTestFinished(() => server.close());
  return server.url;
}

/** Waits for as many 200s as there are creators and a random time more, so that the kill comes in the middle of the work. */
async function underLoad(creators: Creators): Promise<void> {
  const before = creators.acknowledged.size;
  while (creators.acknowledged.size < before + creatorCount) {
    expect(creators.others.at(-1)?.status, 'the server closes no connection by itself').not.toBe(0);
    await sleep(1);
  }
  await sleep(random() * 150);
}

describe(`SIGKILL at a random moment (SEED=${seed})`, () => {
  it.each([
    ['SQLite', creatorCount, async () => sqliteFile()],
    ['PostgreSQL', creatorCount, postgresUrl],
    // A lone create has a statement of its own.
    ['SQLite, one create at a time', 1, async () => sqliteFile()],
    ['PostgreSQL, one create at a time', 1, postgresUrl],
  ])(
    `of the server on %s, ${rounds} times: every plant that returned 200 is stored`,
    async (_, count, open) => {
      const database = await open();
      const acknowledged: number[] = [];
      let nextId = 1;
      for (let round = 0; round < rounds; round++) {
        const [program, port] = await serve(database);
        const creators = new Creators(port, nextId);
        creators.start(count);
        await underLoad(creators);
        program.child.kill('SIGKILL');
        await program.exit;
        await creators.stop();
        // Every create in flight was cut off, and got no other answer.
        expect(creators.others.map(({ status }) => status)).toEqual(Array(count).fill(0));
        acknowledged.push(...creators.acknowledged);
        nextId = creators.nextId;
      }
      const [, port] = await serve(database);
      expect(acknowledged.length).toBeGreaterThanOrEqual(rounds * creatorCount);
      expect(await missingOf(port, acknowledged)).toEqual([]);
      // The check can fail: an id that was never created is missing.
      expect(await missingOf(port, [nextId + 1])).toEqual([nextId + 1]);
    },
    90_000,
  );
});
