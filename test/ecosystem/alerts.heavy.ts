// The alerts of examples/around/alerts.yml, in a real Prometheus that scrapes examples/around/metrics.ts while its PostgreSQL has
// an incident: each alert that should fires within its time, and no other does. A minute of the file is six seconds here.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { schema } from 'plant-store/postgres';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ecosystemBundle } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { PostgresServer } from '../support/postgres.js';
import { portOf, startProgram, untilTestEnds } from '../support/program.js';
import { AlertLoad } from './alert-load.js';
import { alertsFaster, missing, Prometheus, promtoolTest } from './prometheus.js';

const faster = 10;
const minuteMs = 60_000 / faster;
/** By how many minutes, of six seconds, a busy machine may be late. */
const late = 0.5;
const timeoutMs = 4_000;

/** One database of the server, for one incident. */
interface Garden {
  readonly server: PostgresServer;
  readonly url: string;
  readonly pool: pg.Pool;
  readonly load: AlertLoad;
  /** What the program has logged. */
  readonly output: () => string;
}

interface Incident {
  readonly name: string;
  /** A server of its own, which it harms. */
  readonly isServerOwn?: boolean;
  readonly maxQueued?: number;
  /** How many clients create plants before it. */
  readonly clients?: number;
  readonly provoke: (garden: Garden) => unknown;
  /** The alerts that fire, and after how many minutes at most. */
  readonly alerts: Readonly<Record<string, number>>;
  /** One that may fire besides. */
  readonly mayFire?: string;
}

const trigger =
  (each: 'ROW' | 'STATEMENT', seconds: number) =>
  ({ pool }: Garden) =>
    pool.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN new; END $$;
    CREATE TRIGGER slow BEFORE INSERT ON plants FOR EACH ${each} EXECUTE FUNCTION slow()`);

const incidents: readonly Incident[] = [
  { name: 'none', provoke: () => {}, alerts: {} },
  {
    name: 'the database is frozen',
    isServerOwn: true,
    provoke: ({ server }) => onTestFinished(server.freeze()),
    alerts: { PlantStoreUnavailable: 2.5, PlantStoreCallsFailed: 1 },
  },
  {
    name: 'the database is stopped',
    isServerOwn: true,
    provoke: ({ server }) => server.stop(),
    alerts: { PlantStoreUnavailable: 2.5, PlantStoreRolledBack: 1 },
    // The server may end before it has told the call in flight: its outcome is then unknown.
    mayFire: 'PlantStoreCallsFailed',
  },
  {
    name: 'a row is locked',
    async provoke({ url, load }) {
      const holder = new pg.Client(url);
      await holder.connect();
      onTestFinished(() => holder.end());
      await holder.query("BEGIN; INSERT INTO plants VALUES (-1, 'held')");
      load.start(80, 200);
      load.startOne(-1);
    },
    alerts: { PlantStoreRolledBack: 1, PlantStoreSomeBusy: 8 },
  },
  {
    name: 'the queue is full',
    maxQueued: 40,
    async provoke(garden) {
      await trigger('ROW', 0.005)(garden);
      garden.load.start(80, 200);
    },
    alerts: { PlantStoreQueueLong: 3, PlantStoreBusy: 7 },
  },
  {
    name: 'a trigger takes 60 ms a row',
    async provoke(garden) {
      await trigger('ROW', 0.06)(garden);
      garden.load.start(90, 0);
    },
    alerts: { PlantStoreBusy: 7 },
  },
  {
    name: 'a statement takes 1.2 s',
    // A batch of such a database has one plant: more clients would time out in the queue.
    clients: 1,
    provoke: trigger('STATEMENT', 1.2),
    alerts: { PlantStoreCallsSlow: 3 },
  },
  {
    name: 'the table is missing',
    provoke: ({ pool }) => pool.query('DROP TABLE plants'),
    alerts: { PlantStoreTableUnusable: 2.5 },
  },
  {
    name: 'a constraint rejects some plants',
    async provoke({ pool, load }) {
      await pool.query('ALTER TABLE plants ADD CHECK (id <> -1)');
      load.startOne(-1);
    },
    alerts: { PlantStorePlantsRejected: 2.5 },
  },
  {
    name: 'sessions are killed',
    async provoke(garden) {
      await trigger('STATEMENT', 0.02)(garden);
      const kill =
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
      const killing = setInterval(() => void garden.pool.query(kill).catch(() => {}), 200);
      onTestFinished(() => clearInterval(killing));
    },
    alerts: { PlantStoreOutcomeUnknown: 7, PlantStoreCallsFailed: 1 },
    // A session that is killed before its COMMIT has stored nothing, and its batch is sent again.
    mayFire: 'PlantStoreRolledBack',
  },
];

describeUnless(missing, 'alerts.yml', () => {
  let shared: PostgresServer;
  beforeAll(async () => {
    shared = await PostgresServer.start({ fsync: 'off' });
  });
  afterAll(() => shared.close());

  /** Starts the program of the page on a database of its own, and some creates. */
  async function open(
    { isServerOwn, maxQueued = 10_000, clients = 3 }: Incident,
    i: number,
  ): Promise<Garden & { port: number }> {
    const server = isServerOwn ? await PostgresServer.start() : shared;
    if (isServerOwn) onTestFinished(() => server.close());
    const admin = new pg.Client(server.url);
    await admin.connect();
    await admin.query(`CREATE DATABASE garden_${i}`);
    await admin.end();
    const DATABASE_URL = server.url.replace('/postgres?', `/garden_${i}?`);
    const pool = new pg.Pool({ connectionString: DATABASE_URL, application_name: 'test' });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    await pool.query(schema);
    const env = { DATABASE_URL, MAX_QUEUED: String(maxQueued), TIMEOUT_MS: String(timeoutMs) };
    const program = untilTestEnds(startProgram([process.execPath, ecosystemBundle('metrics')], env));
    const port = await portOf(program);
    const load = new AlertLoad(port);
    onTestFinished(() => load.stop());
    load.start(clients, 100);
    return { server, url: DATABASE_URL, pool, load, port, output: program.output };
  }

  it('fires each alert within its time while an incident lasts, and no other', async () => {
    const gardens = await Promise.all(incidents.map(open));
    const addressOf = ({ port }: { port: number }) => `127.0.0.1:${port}`;
    const prometheus = await Prometheus.start(alertsFaster(faster), gardens.map(addressOf));
    const startedAt = Date.now();
    await sleep(2 * minuteMs);
    expect(await prometheus.fired(startedAt)).toEqual(new Map());

    const provokedAt = Date.now();
    await Promise.all(incidents.map(({ provoke }, i) => provoke(gardens[i]!)));
    await sleep(8 * minuteMs);
    const fired = await prometheus.fired(provokedAt);
    const report = incidents.map(({ name }, i) => {
      const times = [...(fired.get(addressOf(gardens[i]!)) ?? [])];
      const minutes = times.map(([alert, at]) => [alert, (at * 1_000 - provokedAt) / minuteMs]);
      return { name, ...Object.fromEntries(minutes) };
    });
    for (const [i, { name, alerts, mayFire }] of incidents.entries()) {
      const { name: _, ...found } = report[i]!;
      const expected = [...Object.keys(alerts), ...(mayFire && mayFire in found ? [mayFire] : [])];
      expect(Object.keys(found).sort(), `${name}\n${gardens[i]!.output()}`).toEqual(expected.sort());
      for (const [alert, minutes] of Object.entries(alerts))
        expect(found[alert as never], `${alert}: ${name}`).toBeLessThan(minutes + late);
    }
  });

  // What no incident of a database causes: series as Prometheus would scrape them, four a minute.
  it.each<[string, string, Record<string, string>]>([
    ['a fault of a guarded route', 'PlantStoreFault', { 50000: '0x20 1x40' }],
    ['a body that was consumed', 'PlantStoreFault', { 50003: '0x20 1x40' }],
    ['2 % of tokens that cannot be checked', 'PlantStoreVerificationFailed', { 50002: '0+3x60' }],
    ['0.7 % of them', '', { 50002: '0+1x60' }],
    ['a create that the storage was too slow for', 'PlantStoreTimedOut', { 50302: '0x20 1x40' }],
  ])('%s raises %s', (_, alert, failures) => {
    const all = { 0: '0+150x60', 40003: '0+10x60', ...failures };
    const series = Object.entries(all).map(([error, values]) => {
      return `{ series: 'plant_store_response_seconds_count{instance="a",error="${error}"}', values: '${values}' }`;
    });
    const samples = alert ? `{ labels: '{alertname="${alert}"}', value: 1 }` : '';
    const test = `
      rule_files: [alerts.yml]
      evaluation_interval: 15s
      tests:
        - interval: 15s
          input_series: [${series.join(', ')}]
          promql_expr_test:
            - { expr: 'count by (alertname) (ALERTS{alertstate="firing"})', eval_time: 9m, exp_samples: [${samples}] }
      `.replace(/^ {6}/gm, '');
    expect(promtoolTest(alertsFaster(1), test)).toContain('SUCCESS');
  });
});
