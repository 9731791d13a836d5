// The incidents of adapters/OPERATING.md on a real PostgreSQL: what clients get, and what the default `onError` writes. On a simulated
// clock, which stands still while the server works, however slow that is.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BatchReport, PlantResponse, PlantStorage, PlantStoreOptions } from 'plant-store';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { passInPause } from '../support/clock.js';
import { deferred } from '../support/deferred.js';
import { Doorway } from '../support/doorway.js';
import { createRequest } from '../support/plants.js';
import { startProgram, untilTestEnds } from '../support/program.js';
import { SimulatedTimers } from '../support/timers.js';
import { waitFor } from '../support/wait-for.js';
import { ownServer } from './postgres-server.js';

const timers = new SimulatedTimers();
timers.install();
const { clock } = timers;
const { acceptTokens, createPlantStore } = await import('plant-store');
const { postgresStorage, schema } = await import('plant-store/postgres');

const own = ownServer();
let ids = 0;
let errors = 0;
let lines: string[] = [];
beforeEach(async () => {
  await own.pool.query(`DROP TABLE IF EXISTS plants; ${schema}`);
  lines = [];
  errors = 0;
  vi.spyOn(console, 'error').mockImplementation((text) => void lines.push(text));
});

/** An app on this storage, with the log of the default `onError`. */
function appOn(storage: PlantStorage, options: PlantStoreOptions = {}) {
  const handle = createPlantStore(storage, acceptTokens('secret'), options);
  return async (id = ids++) => {
    const response = await handle(createRequest('secret', `{"id":${id},"name":"Rosa"}`));
    if (response.status >= 500) errors++;
    return response;
  };
}

/**
 * Lets time pass until all have settled, with real time for the server between the steps, and returns the codes.
 *
 * @param step milliseconds, or what lets time pass
 */
async function codesOf(
  creates: readonly Promise<PlantResponse>[],
  step: number | (() => Promise<void>) = 1,
): Promise<number[]> {
  const pass = typeof step === 'number' ? () => clock.advance(step) : step;
  let isOver = false;
  const all = Promise.all(creates).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await pass();
    await sleep(2);
  }
  return (await all).map(({ status, error }) => error ?? status);
}

/** The lines with a code once the incident is over, without their counts. These lines and counts add up to the 5xx. */
async function written(): Promise<string[]> {
  // The log forgets a message after a second without it.
  await clock.advance(2_000);
  const count = (line: string) => 1 + Number(/ \((\d+) more\)$/.exec(line)?.[1] ?? 0);
  const coded = lines.filter((line) => /^plant-store: \d{5} /.test(line));
  expect(coded.reduce((sum, line) => sum + count(line), 0)).toBe(errors);
  return [...new Set(coded.map((line) => line.replace(/^plant-store: | \(\d+ more\)$/g, '')))];
}

const post = ', POST /plants: ';
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** A transaction of somebody else that has run this, until the test ends. */
async function holding(sql: string): Promise<pg.PoolClient> {
  const client = await own.pool.connect();
  await client.query(`BEGIN; ${sql}`);
  onTestFinished(() => client.query('ROLLBACK').then(() => client.release()));
  return client;
}

/** Freezes the only process of a pool, whose connection is idle. */
async function freeze(pool: pg.Pool): Promise<void> {
  const { pid } = (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0];
  process.kill(pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(pid, 'SIGCONT'));
}

it('a frozen database: the gauges show it at once, the outcome of what was sent is unknown, the rest is not stored', async () => {
  const pool = own.poolOf({ max: 1 });
  const storage = postgresStorage(pool);
  const create = appOn(storage);
  expect((await create()).status).toBe(200);
  await freeze(pool);
  const creates = times(3_000, create);
  await waitFor(() => expect(storage.state().inFlightMs).not.toBe(null));
  await clock.advance(5_000);
  expect(storage.state()).toMatchObject({ queued: 3_000, inFlightMs: expect.any(Number), isOpen: false });
  expect(storage.state().inFlightMs).toBeGreaterThan(4_000);
  const codes = await codesOf(creates, 500);
  const unknown = codes.filter((code) => code === 50001).length;
  expect([unknown > 0 && unknown <= 256, codes.filter((code) => code === 50301).length]).toEqual([
    true,
    3_000 - unknown,
  ]);
  expect(storage.state()).toMatchObject({ queued: 0, isOpen: true });
  const sent = `50001 storage_failed${post}the storage did not answer within 10000 ms`;
  expect(await written()).toEqual(
    expect.arrayContaining([
      sent,
      `50301 busy${post}the circuit is open: the storage did not answer within 10000 ms`,
    ]),
  );
});

it('a probe that an outage keeps from being sent has the cause of the outage, and not its own limit', async () => {
  const pool = own.poolOf({ max: 1 });
  const create = appOn(postgresStorage(pool, { timeoutMs: 1_000 }));
  expect((await create()).status).toBe(200);
  await freeze(pool);
  expect(await codesOf([create()], 10)).toEqual([50001]);
  // The pool has a place again: freeze what takes it.
  await freeze(pool);
  // It looks at the table first, so that nothing of it was sent.
  expect(await codesOf([create()], 10)).toEqual([50301]);
  expect(await written()).toContain(
    `50301 busy${post}the storage is unavailable: the storage did not answer within 1000 ms`,
  );
});

/** A pool over TCP. */
function poolAt(port: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  return pool;
}

/** Cuts the only connection of a pool at this doorway once the INSERT of a create is on its way, and the server cannot answer. */
async function cutUnderInsert(pool: pg.Pool, doorway: Doorway, create: () => Promise<PlantResponse>) {
  await freeze(pool);
  const sent = deferred();
  doorway.onRequest = (request) => void (request.includes('Rosa') && sent.resolve());
  const creating = create();
  await sent.promise;
  doorway.close();
  return codesOf([creating]);
}

it('a connection that is cut under its statement leaves the outcome unknown', async () => {
  const doorway = await Doorway.before({ path: own.server.socket });
  const pool = poolAt(doorway.port);
  const create = appOn(postgresStorage(pool));
  expect((await create()).status).toBe(200);
  expect(await cutUnderInsert(pool, doorway, create)).toEqual([50001]);
  expect(await written()).toEqual([
    expect.stringMatching(
      /^50001 storage_failed, POST \/plants: the connection failed before the database said what it stored: Error\b/,
    ),
  ]);
});

it('a column that must be filled and is not, added by a migration, is one line with its remedy', async () => {
  const create = appOn(postgresStorage(own.pool));
  expect((await create()).status).toBe(200);
  await own.pool.query('TRUNCATE plants; ALTER TABLE plants ADD note text NOT NULL');
  expect(new Set(await codesOf(times(300, create)))).toEqual(new Set([50004]));
  expect(await written()).toEqual([
    expect.stringMatching(
      /^50004 storage_rejected, POST \/plants: .*plant-store cannot use the table "plants": its column note takes no null and has no default.*Give it a default/,
    ),
  ]);
});

it('a database that is stopped: the first line comes at the timeout, and then every create fails at once', async () => {
  const storage = postgresStorage(poolAt(1));
  const create = appOn(storage);
  const pass = () => passInPause(clock, storage);
  const first = create();
  await clock.advance(9_000);
  expect(lines).toEqual([]);
  expect(await codesOf([first], pass)).toEqual([50301]);
  expect(await codesOf(times(50, create), pass)).toEqual(Array(50).fill(50301));
  expect(await written()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^50301 busy, POST \/plants: the storage is unavailable: no connection: check host, .*: \w+ ECONNREFUSED, 127\.0\.0\.1 port 1\. Nobody/,
      ),
      expect.stringMatching(
        /^50301 busy, POST \/plants: the circuit is open: no connection: check host, .*: \w+ ECONNREFUSED, 127\.0\.0\.1 port 1\. Nobody/,
      ),
    ]),
  );
});

it('a database without a connection left is unavailable, and the line says so', async () => {
  await own.pool.query('CREATE ROLE crowd LOGIN CONNECTION LIMIT 1; GRANT ALL ON plants TO crowd');
  const other = await own.poolOf({ role: 'crowd' }).connect();
  onTestFinished(() => other.release());
  const onBatch = vi.fn();
  const storage = postgresStorage(own.poolOf({ role: 'crowd' }), { onBatch });
  const creating = appOn(storage)();
  await waitFor(() => expect(onBatch).toHaveBeenCalled());
  expect(await codesOf([creating], () => passInPause(clock, storage))).toEqual([50301]);
  expect(await written()).toEqual([
    expect.stringMatching(
      /^50301 busy, POST \/plants: the storage is unavailable: no connection: check host, .*: \w+ 53300 too_many_connections\. The server has no/,
    ),
  ]);
});

it('a locked row costs its own create alone, whose line says so, and the circuit stays closed', async () => {
  await holding("INSERT INTO plants VALUES (70, 'held')");
  const storage = postgresStorage(own.poolOf(), { timeoutMs: 4_000 });
  const create = appOn(storage);
  const locked = create(70);
  const others = times(40, () => create(1_000 + ids++));
  expect(await codesOf(others)).toEqual(Array(40).fill(200));
  expect(await codesOf([locked], () => passInPause(clock, storage))).toEqual([50301]);
  expect(storage.state().isOpen).toBe(false);
  expect(await written()).toEqual([
    expect.stringMatching(
      /^50301 busy, POST \/plants: another transaction has locked the row: \w+ 55P03 lock_not_available(, with a context.*)?\. Another/,
    ),
  ]);
});

it('a connection that comes with an open transaction costs one create, and says so, on a table with a trigger', async () => {
  await own.pool.query(`CREATE OR REPLACE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
    CREATE TRIGGER pass BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION pass()`);
  const pool = own.poolOf({ max: 1 });
  const create = appOn(postgresStorage(pool));
  expect((await create()).status).toBe(200);
  const client = await pool.connect();
  await client.query("BEGIN; INSERT INTO plants VALUES (9999, 'of the app')");
  client.release();
  expect(await codesOf([create()])).toEqual([50301]);
  expect(await codesOf([create()])).toEqual([200]);
  expect(await written()).toEqual([
    expect.stringMatching(/^50301 busy, POST \/plants: .*already has an open transaction/),
  ]);
  // Nobody but the app may commit what it has begun.
  expect((await own.pool.query('SELECT FROM plants WHERE id = 9999')).rowCount).toBe(0);
});

it('a storage that is slower than the request times out by the request, and nothing is told of it twice', async () => {
  await holding('LOCK TABLE plants');
  const create = appOn(postgresStorage(own.poolOf()), { timeoutMs: 1_000 });
  expect(await codesOf([create()], 100)).toEqual([50302]);
  expect(await written()).toEqual([
    expect.stringMatching(/^50302 timed_out, POST \/plants: timed out after 1000 ms/),
  ]);
});

it('a table that is locked for longer than statement_timeout is an outage: each create is retried, and nothing is stored', async () => {
  const migration = await holding('LOCK TABLE plants');
  const onBatch = vi.fn();
  const storage = postgresStorage(own.poolOf({ statement_timeout: 200 }), { timeoutMs: 1_000, onBatch });
  const create = appOn(storage);
  const creates = times(6, () => create());
  await waitFor(() => expect(onBatch).toHaveBeenCalled());
  const pass = () => passInPause(clock, storage);
  expect(await codesOf(creates, pass)).toEqual(Array(6).fill(50301));
  expect(storage.state().isOpen).toBe(true);
  // The probe has the time that the server takes to say so.
  const probe = create();
  await waitFor(() => expect(storage.state().queued).toBe(1));
  expect(await codesOf([probe], pass)).toEqual([50301]);
  await migration.query('ROLLBACK');
  // The pause of the last probe.
  await clock.advance(100);
  expect(await codesOf([create()])).toEqual([200]);
  const all = await written();
  expect(
    all.filter((line) => !/: \w+ 57014 query_canceled\. The statement was cancelled/.test(line)),
  ).toEqual([]);
});

it('an app that uses up its own pool reads so, with the counts of the pool, also while the circuit is open', async () => {
  const pool = own.poolOf({ max: 2, connectionTimeoutMillis: 0 });
  const create = appOn(postgresStorage(pool));
  expect((await create()).status).toBe(200);
  const held = await Promise.all([pool.connect(), pool.connect()]);
  onTestFinished(() => {
    for (const client of held) client.release();
  });
  expect(await codesOf([create()], 500)).toEqual([50301]);
  // The pause before a probe.
  await clock.advance(100);
  expect(await codesOf([create()], 100)).toEqual([50301]);
  const shortage = 'the pool gave no connection: 0 of 2 idle, 1 waiting';
  expect(await written()).toEqual([
    `50301 busy${post}the storage is unavailable: the storage did not send within 10000 ms: ${shortage}`,
  ]);
});

it('two versions share a table while a migration adds, widens and drops columns, in the order of the page', async () => {
  await own.pool.query('ALTER TABLE plants ALTER id TYPE int, ALTER name TYPE varchar(100)');
  const old = appOn(postgresStorage(own.poolOf()));
  expect((await old()).status).toBe(200);
  await own.pool.query('ALTER TABLE plants ADD who text');
  const next = appOn(postgresStorage(own.poolOf(), { columns: { who: () => 'me' } }));
  expect(await codesOf([old(), next()])).toEqual([200, 200]);
  await own.pool.query('ALTER TABLE plants ALTER id TYPE bigint, ALTER name TYPE text');
  expect(await codesOf([old(), next()])).toEqual([200, 200]);
  // The version without the column is deployed again before it is dropped.
  await own.pool.query('ALTER TABLE plants DROP who');
  expect(await codesOf([old()])).toEqual([200]);
});

it('without a listener on its pool, a dropped idle connection crashes the process', async () => {
  const script = `const { Pool } = require('pg');
    const pool = new Pool({ connectionString: process.env.DATABASE_URL });
    pool.query('SELECT pg_backend_pid() AS pid').then(({ rows }) => console.log('pid: ' + rows[0].pid));`;
  const env = { DATABASE_URL: own.server.url };
  const program = untilTestEnds(startProgram([process.execPath, '-e', script], env));
  const [, pid] = await program.printed(/pid: (\d+)/);
  await own.pool.query('SELECT pg_terminate_backend($1)', [Number(pid)]);
  expect(await program.exit).toBe(1);
});

it('onBatch tells how each call to the server ended, with its plants and its time', async () => {
  // A sequence keeps its number when its transaction is rolled back: the first INSERT fails alone.
  await own.pool.query(`DROP SEQUENCE IF EXISTS tries; CREATE SEQUENCE tries;
    ALTER TABLE plants ADD CONSTRAINT no_nine CHECK (id <> 9);
    CREATE OR REPLACE FUNCTION once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('tries') = 1 THEN RAISE EXCEPTION 'try again' USING ERRCODE = 'deadlock_detected'; END IF; RETURN new; END $$;
    CREATE TRIGGER once BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION once()`);
  // Each storage has a list of its own: one that the test is done with may still try its plant again.
  const lists: BatchReport[][] = [];
  const reportingApp = (pool: pg.Pool) => {
    const batches: BatchReport[] = [];
    lists.push(batches);
    const storage = postgresStorage(pool, { onBatch: (batch) => void batches.push(batch) });
    return { create: appOn(storage), batches, pass: () => passInPause(clock, storage) };
  };
  const endsOf = (batches: BatchReport[]) => [...new Set(batches.map(({ end }) => end))];
  const doorway = await Doorway.before({ path: own.server.socket });

  const first = reportingApp(poolAt(doorway.port));
  expect(await codesOf([first.create(1)])).toEqual([200]);
  expect(endsOf(first.batches)).toEqual(['conflict', 'settled']); // a deadlock, and the retry
  const before = first.batches.length;
  expect(await codesOf([first.create(2), first.create(3), first.create(9)])).toEqual([200, 200, 50004]);
  expect(endsOf(first.batches.slice(before)).sort()).toEqual(['rejected', 'settled']);

  // With a trigger the connection is lost before the COMMIT, so that nothing is stored.
  await own.pool.query('DROP TRIGGER once ON plants');
  const cutPool = poolAt(doorway.port);
  const cut = reportingApp(cutPool);
  expect(await codesOf([cut.create(3_000)])).toEqual([200]);
  expect(await cutUnderInsert(cutPool, doorway, () => cut.create(4))).toEqual([50001]);
  expect(endsOf(cut.batches)).toEqual(['settled', 'unknown']);

  // Connections are refused, so that nothing was sent.
  const refused = reportingApp(poolAt(1));
  expect(await codesOf([refused.create(5)], refused.pass)).toEqual([50301]);
  expect(endsOf(refused.batches)).toEqual(['unavailable']);

  const pool = own.poolOf({ max: 1 });
  const frozen = reportingApp(pool);
  expect(await codesOf([frozen.create(6)])).toEqual([200]);
  await freeze(pool);
  expect(await codesOf([frozen.create(7)], 100)).toEqual([50001]);
  expect(frozen.batches.slice(0, 2)).toMatchObject([
    { end: 'settled', plants: 1, failed: 0, queued: 0 },
    { end: 'unknown', plants: 1, failed: 1, queued: 0, isOpen: true },
  ]);
  expect(frozen.batches[1]!.ms).toBeGreaterThan(9_000);

  // Five were told 200, and three an error of a call. One was never sent: connections were refused until it timed out.
  const batches = lists.flat();
  const settled = batches.filter(({ end }) => end === 'settled');
  expect(settled.reduce((sum, { plants, failed }) => sum + plants - failed, 0)).toBe(5);
  expect([batches.reduce((sum, { failed }) => sum + failed, 0), errors]).toEqual([3, 4]);
  await written();
});

it('a client that lost its response gets 200 again with acceptReplays, and 40003 for another plant', async () => {
  const create = appOn(postgresStorage(own.pool), { acceptReplays: true });
  await own.pool.query("INSERT INTO plants VALUES (80, 'Rosa'), (81, 'Ilex')");
  expect(await codesOf([create(80), create(81)])).toEqual([200, 40003]);
});
