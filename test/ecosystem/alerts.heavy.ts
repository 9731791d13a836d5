// The alerts of examples/around/alerts.yml, in a real Prometheus that scrapes an app with examples/around/metrics.ts while its database,
// its network, its issuer or the app itself has an incident: the log, the first page and the page of operating name the same party.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { schema } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleOf } from '../support/bundle.js';
import { Doorway } from '../support/doorway.js';
import { ecosystemFolder } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { PostgresServer } from '../support/postgres.js';
import { portOf, startProgram, untilTestEnds } from '../support/program.js';
import { root } from '../support/root.js';
import { AlertLoad } from './alert-load.js';
import { type Garden, type Incident, incidents, startIssuer } from './incidents.js';
import { missing, Prometheus, pages, promtoolTest, tickets } from './prometheus.js';

/** A total outage pages within this time: seconds. */
const inTime = 45;
/** By how much a busy machine may be late. */
const late = 5;

describeUnless(missing, 'alerts.yml', () => {
  let shared: PostgresServer;
  let issuer: string;
  beforeAll(async () => {
    shared = await PostgresServer.start({ fsync: 'off', max_connections: '1000' });
  });
  afterAll(() => shared.close());

  function poolOf(connectionString: string): pg.Pool {
    const pool = new pg.Pool({ connectionString, application_name: 'test', max: 3 });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    return pool;
  }

  /** Starts the app on a database of its own, whose user has no more rights than it needs, and some creates. */
  async function open(
    { isServerOwn, env, path, line }: Incident,
    i: number,
  ): Promise<Garden & { address: string }> {
    const server = isServerOwn ? await PostgresServer.start() : shared;
    if (isServerOwn) onTestFinished(() => server.close());
    const name = `garden_${i}`;
    const admin = poolOf(server.url);
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.query(`CREATE ROLE ${name} LOGIN`);
    const pool = poolOf(server.url.replace('/postgres?', `/${name}?`));
    await pool.query(`${schema}; GRANT SELECT, INSERT ON plants TO ${name}`);
    const doorway = await Doorway.before({ path: server.socket });
    onTestFinished(() => doorway.close());
    const DATABASE_URL = `postgres://${name}@127.0.0.1:${doorway.port}/${name}`;
    const app = bundleOf('test/ecosystem/incident-app.ts', ecosystemFolder());
    const program = untilTestEnds(
      startProgram([process.execPath, app], { DATABASE_URL, ISSUER: issuer, ...env }),
    );
    const port = await portOf(program);
    const tell = (path: string) =>
      fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST' }).then((response) => response.text());
    const load = new AlertLoad(port, path);
    onTestFinished(() => void load.stop());
    if (!path) load.start(3, 150);
    return { server, doorway, pool, admin, name, load, program, tell, address: `127.0.0.1:${port}` };
  }

  it('name the same party as the log, within their time, and no other', async () => {
    issuer = await startIssuer();
    const gardens: (Garden & { address: string })[] = [];
    // A few at a time: all at once would start for minutes.
    for (let i = 0; i < incidents.length; i += 6)
      gardens.push(...(await Promise.all(incidents.slice(i, i + 6).map((incident, k) => open(incident, i + k)))));
    console.log('open', performance.now());
    const prometheus = await Prometheus.start(gardens.map(({ address }) => address));
    const startedAt = Date.now();
    await sleep(35_000);
    expect(await prometheus.fired(startedAt)).toEqual(new Map());

    const provokedAt = Date.now();
    const heals = await Promise.all(
      incidents.map(async ({ name, provoke, path }, i) => {
        if (path) gardens[i]!.load.start(3, 150);
        const heal = provoke(gardens[i]!);
        const slow = setTimeout(() => console.log('slow', name), 10_000);
        const x = await Promise.race([heal, sleep(15_000)]);
        clearTimeout(slow);
        return x;
      }),
    );
    console.log('provoked', performance.now());
    await sleep((inTime + late) * 1_000);
    console.log('asking'); const fired = await prometheus.fired(provokedAt);
    const report = incidents.map(({ name, party, page, ticket, line }, i) => {
      const { address, program } = gardens[i]!;
      const alerts = [...(fired.get(address) ?? [])].sort(([, a], [, b]) => a - b);
      const times = alerts.map(([alert, at]) => `${alert} ${Math.round(at - provokedAt / 1_000)}`);
      const lines = program
        .output()
        .split('\n')
        .filter((text) => text.startsWith('plant-store: 5'));
      return { name, party, page, ticket, line, times, first: lines[0], told: [...gardens[i]!.load.told] };
    });
    console.log(JSON.stringify(report, (_, value) => (value instanceof RegExp ? String(value) : value), 1));
    void heals;
  }, 400_000);
});
void describe;
void promtoolTest;
void tickets;
void pages;
void readFileSync;
void join;
void root;
