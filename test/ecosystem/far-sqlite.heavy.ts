// What creates are told of a SQLite that others use, that restarts, or that takes the token no more.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlantStorage } from 'plant-store';
import { schema, sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { context } from '../storages/context.js';
import { bundleOf } from '../support/bundle.js';
import { Doorway } from '../support/doorway.js';
import { type Any, ecosystemFolder, load } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { type Program, startProgram, untilTestEnds } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';
import { listen } from '../support/sockets.js';
import { obstacleOfSqld, startSqld } from './sqld.js';

const { createClient } = await load('@libsql/client');
const { connect } = await load('@tursodatabase/serverless');

/** The outcome of a create, or the name of its error. */
const told = (storage: PlantStorage, id: number): Promise<string> =>
  Promise.resolve(storage.create({ id: BigInt(id), name: 'Rosa' }, context)).catch(({ name }) => name);

/** Creates plants in two processes at once, each its own ids and half of the other's. */
async function expectOneOfEach(kind: string, url: string): Promise<void> {
  const program = bundleOf('test/ecosystem/far-creators.ts', ecosystemFolder());
  const processes = [0, 100].map((first) =>
    startProgram([process.execPath, program, kind, url, String(first), '200']),
  );
  const answers = await Promise.all(
    processes.map(async ({ exit, output }) => {
      expect(await exit, output()).toBe(0);
      return JSON.parse(output().trim().split('\n').at(-1)!) as string[];
    }),
  );
  for (let id = 0; id < 300; id++) {
    const outcomes = [answers[0]![id], answers[1]![id - 100]].filter(Boolean).sort();
    expect(outcomes).toEqual(id >= 100 && id < 200 ? ['created', 'taken'] : ['created']);
  }
}

describe('two processes × 200 creates, half of them of the same ids: each id is created once', () => {
  it.each(['@libsql/client', 'libsql/promise'])('on one file, by %s', async (kind) => {
    await expectOneOfEach(kind, `file:${join(newFolder(), 'plants.db')}`);
  });

  describeUnless(obstacleOfSqld(), 'on one server', () => {
    it('by @libsql/client', async () => {
      const server = await startSqld();
      onTestFinished(() => server.stop());
      await expectOneOfEach('@libsql/client', server.url);
    });
  });
});

/** Runs SQL in another process, and then this. */
function run(file: string, sql: string, then = ''): Program {
  const program = `new (require('libsql'))(process.argv[1]).exec(process.argv[2]); console.log('done'); ${then}`;
  return untilTestEnds(startProgram([process.execPath, '-e', program, file, sql]));
}

/** What opens a file, and then waits for a lock: so briefly that even the longer waits of a busy machine end before `timeoutMs`. */
const openers: Record<string, (file: string) => Promise<Any>> = {
  '@libsql/client': async (file) => createClient({ url: `file:${file}`, timeout: 300 }),
  libsql: async (file) => waiting(new (await load('libsql')).default(file)),
  'libsql/promise': async (file) => waiting(new (await load('libsql/promise')).default(file, {})),
};

async function waiting(database: Any): Promise<Any> {
  await database.exec('PRAGMA busy_timeout=300');
  return database;
}

describe.each(Object.entries(openers))(
  'a file that another process has locked for longer than %s waits',
  (_, open) => {
    it.each(['DELETE', 'WAL'])('two instances create again at once, journal_mode %s', async (mode) => {
      const file = join(newFolder(), 'plants.db');
      await run(file, `PRAGMA journal_mode=${mode}; ${schema}`).exit;
      const handles = [await open(file), await open(file)];
      onTestFinished(() => handles.forEach((handle) => void handle.close()));
      const instances = handles.map((handle) => sqliteStorage(handle, { timeoutMs: 2_000 }));
      const each = (first: number) => Promise.all(instances.map((storage, i) => told(storage, first + i)));
      expect(await each(0)).toEqual(['created', 'created']);
      const holder = run(file, 'BEGIN IMMEDIATE', 'setInterval(() => {}, 1_000)');
      await holder.printed(/done/);
      expect(await each(10)).toEqual(['StorageBusy', 'StorageBusy']);
      holder.child.kill('SIGKILL');
      await holder.exit;
      for (let id = 20; id < 40; id += 2) expect(await each(id)).toEqual(['created', 'created']);
      expect(await run(file, "INSERT INTO plants VALUES (-1, 'Ilex', NULL)").exit).toBe(0);
    });
  },
);

const clients: Record<string, (url: string) => Any> = {
  '@libsql/client': (url) => createClient({ url }),
  '@tursodatabase/serverless': (url) => connect({ url }),
};

describeUnless(obstacleOfSqld(), 'messages to a server', () => {
  it.each(Object.entries(clients))('%s: one for a create, and a few for 64 at once', async (_, open) => {
    const server = await startSqld();
    onTestFinished(() => server.stop());
    const doorway = await Doorway.before({ host: '127.0.0.1', port: server.port });
    onTestFinished(() => doorway.close());
    let messages = 0;
    doorway.onRequest = (bytes) => {
      if (bytes.toString('latin1').startsWith('POST ')) messages++;
    };
    const storage = sqliteStorage(open(`http://127.0.0.1:${doorway.port}`));
    await storage.createTable();
    await told(storage, 0);
    const before = messages;
    expect(await told(storage, 1)).toBe('created');
    expect(messages - before).toBe(1);
    const outcomes = await Promise.all(Array.from({ length: 64 }, (_, i) => told(storage, i + 2)));
    expect(new Set(outcomes)).toEqual(new Set(['created']));
    expect(messages - before).toBeLessThanOrEqual(4);
  });
});

describeUnless(obstacleOfSqld(), 'a server that is killed while plants are created, and starts again', () => {
  it.each(Object.entries(clients))(
    '%s: each created plant is stored, no refused one is, and creates go on',
    async (_, open) => {
      const server = await startSqld();
      onTestFinished(() => server.stop());
      const storage = sqliteStorage(open(server.url), { timeoutMs: 2_000 });
      await storage.createTable();
      const outcomes = new Map<number, string>();
      let id = 0;
      const createUntil = async (isOver: (outcome: string) => boolean) => {
        for (;;) {
          const each = id++;
          const outcome = await told(storage, each);
          outcomes.set(each, outcome);
          if (isOver(outcome)) return;
          // While the circuit is open, creates fail without I/O, and would starve the probe of the event loop.
          await nextTurn();
        }
      };
      const creators = (isOver: (outcome: string) => boolean) =>
        Promise.all(Array.from({ length: 8 }, () => createUntil(isOver)));
      for (let i = 0; i < 50; i++) outcomes.set(id, await told(storage, id++));
      const creating = creators((outcome) => outcome !== 'created');
      await server.stop();
      await creating;
      await server.start();
      await creators((outcome) => outcome === 'created');
      const client = createClient({ url: server.url });
      const { rows } = await client.execute('SELECT id FROM plants');
      const stored = new Set(rows.map((row: Any) => row.id));
      for (const [each, outcome] of outcomes) {
        expect(outcome).not.toBe('taken');
        if (outcome === 'created') expect(stored).toContain(each);
        if (/^(RolledBack|StorageBusy)$/.test(outcome)) expect(stored).not.toContain(each);
      }
      expect([...outcomes.values()].filter((outcome) => outcome === 'created').length).toBeGreaterThan(50);
    },
  );
});

describeUnless(obstacleOfSqld(), 'an embedded replica', () => {
  it('returns created and taken truly, what its server rejects without a code is unknown, and check says so', async () => {
    const server = await startSqld();
    onTestFinished(() => server.stop());
    const replica = createClient({ url: `file:${join(newFolder(), 'replica.db')}`, syncUrl: server.url });
    onTestFinished(() => replica.close());
    const primary = createClient({ url: server.url });
    const storage = sqliteStorage(replica);
    await sqliteStorage(primary).createTable();
    await primary.execute('CREATE UNIQUE INDEX tags ON plants (tag)');
    await replica.sync();
    const create = (id: bigint, tag: string) =>
      storage.create({ id, name: 'Rosa', tag }, context).catch(({ name }: Error) => name);
    expect(await create(2n ** 63n - 1n, 'a')).toBe('created');
    expect(await create(2n ** 63n - 1n, 'b')).toBe('taken');
    expect(await create(1n, 'a')).not.toMatch(/created|taken|RolledBack|StorageBusy/);
    const { rows } = await primary.execute('SELECT CAST(id AS TEXT) AS id FROM plants');
    expect(rows.map((row: Any) => row.id)).toEqual([String(2n ** 63n - 1n)]);
    const batch = [2n ** 63n - 1n, 2n, 3n].map((id) => create(id, `batch ${id}`));
    expect(await Promise.all(batch)).toEqual(['taken', 'created', 'created']);
    await expect(storage.check()).rejects.toThrow(/Pass a client of its primary, without syncUrl$/);
  });
});

describe('a token that has expired', () => {
  it('@libsql/client: creates say so at once, and that nothing was stored', async () => {
    const server = createServer((_, response) => response.writeHead(401).end('{"error":"expired"}'));
    const { url, close } = await listen(server);
    onTestFinished(close);
    const storage = sqliteStorage(createClient({ url }));
    await expect(storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'StorageBusy',
      message: expect.stringContaining('the server refuses the login. Check user, password or token'),
    });
  });
});
