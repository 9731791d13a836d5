import { readFileSync } from 'node:fs';
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

async function serve(databaseUrl: string, env: Record<string, string> = {}): Promise<[Program, number]> {
  const program = runExample('server', { DATABASE_URL: databaseUrl, ...env });
  return [program, await portOf(program)];
}

const sqliteFile = () => `file:${join(newFolder(), 'plants.db')}`;

async function postgres(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  onTestFinished(() => server.close());
  return server;
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
    ['PostgreSQL', creatorCount, async () => (await postgres()).url],
    // A lone create has a statement of its own.
    ['SQLite, one create at a time', 1, async () => sqliteFile()],
    ['PostgreSQL, one create at a time', 1, async () => (await postgres()).url],
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

  it(`of PostgreSQL itself, ${rounds} times: nothing is lost, every other answer is an Error, memory is bounded, and creates work again`, async () => {
    const database = await postgres();
    const [program, port] = await serve(database.url, { TIMEOUT_MS: '1000' });
    const creators = new Creators(port);
    creators.start(creatorCount);
    await underLoad(creators);
    const memoryBefore = residentBytes(program.child.pid!);
    for (let round = 0; round < rounds; round++) {
      await database.kill();
      // In one round the outage is longer than the server's own deadline.
      if (round === 0) {
        const answered = creators.others.length;
        while (creators.others.length < answered + 2 * creatorCount) await sleep(10);
      }
      await database.start();
      await underLoad(creators);
    }
    await creators.stop();
    expect(program.child.exitCode).toBe(null);
    for (const { status, body } of creators.others) {
      expect([status, JSON.parse(body)]).toEqual([
        expect.toSatisfy((code) => code === 500 || code === 503),
        {
          error: expect.toSatisfy((error) => Math.trunc(error / 100) === status),
          message: expect.any(String),
        },
      ]);
    }
    expect(await missingOf(port, creators.acknowledged)).toEqual([]);
    if (memoryBefore) expect(residentBytes(program.child.pid!)! - memoryBefore).toBeLessThan(150 * 2 ** 20);
  }, 90_000);
});

/** The memory of a process in bytes; `undefined` on systems without /proc. */
function residentBytes(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
