// Clusters that must lose plants, for the tests of the checker: RECORD=controls npm run test:cluster
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { afterEach, expect, inject, it } from 'vitest';
import { type Holdings, violationsIn } from './checker.js';
import type { Control } from './controls.js';
import { GaleraCluster } from './galera.js';
import { type AppSettings, Load } from './load.js';
import { until } from './machine.js';
import { faultMs } from './partitions.js';
import { PatroniCluster } from './patroni.js';
import type { PatroniSettings } from './patroni-node.js';

const file = fileURLToPath(new URL('controls.json', import.meta.url));
const table = 'plants';

let close: () => Promise<void>;
afterEach(() => close?.());

async function patroni(settings: PatroniSettings = {}): Promise<PatroniCluster> {
  const cluster = await PatroniCluster.start(settings);
  close = () => cluster.close();
  const pool = new pg.Pool({ connectionString: cluster.url });
  await postgresStorage(pool, { table }).createTable();
  await pool.end();
  return cluster;
}

async function startLoad(
  { network, url }: PatroniCluster | GaleraCluster,
  retrying: AppSettings['retrying'] = 'with acceptReplays',
): Promise<Load> {
  const load = new Load({ table, urls: [url, url], pauseMs: 100, retrying }, network.app);
  await load.tells('created', 500);
  return load;
}

it.skipIf(inject('obstacle'))('an asynchronous standby', async ({ task }) => {
  const change = (text: string) => text.replaceAll(/^ *synchronous_mode.*$/gm, '');
  const cluster = await patroni({ change, roles: ['leader', 'replica', 'replica'] });
  const load = await startLoad(cluster);
  const primary = (await cluster.primary()).machine;
  const others = cluster.network.nodes.filter((machine) => machine !== primary);
  cluster.network.cut([primary], others);
  await sleep(faultMs);
  cluster.network.heal();
  await load.tells('created', 500);
  await record(task.name, load, () => cluster.holdings(table));
});

it.skipIf(inject('obstacle'))('synchronous_mode_strict: false', async ({ task }) => {
  const change = (text: string) => text.replace('mode_strict: true', 'mode_strict: false');
  const cluster = await patroni({ change });
  const load = await startLoad(cluster);
  const primary = await cluster.primary();
  const others = cluster.nodes.filter((node) => node !== primary);
  // Both standbys end, the primary acknowledges alone, and then its machine is lost.
  await Promise.all(others.map(({ patroni }) => patroni.signal('SIGKILL')));
  await load.tells('created', 100);
  await sleep(5_000);
  await primary.signal('SIGKILL');
  for (const node of others) node.startPatroni();
  await until('the failover by hand', () => cluster.failOver(others[0]!));
  await load.tells('created', 500);
  primary.start();
  await record(task.name, load, () => cluster.holdings(table));
});

it.skipIf(inject('obstacle'))('pc.ignore_sb', async ({ task }) => {
  const cluster = await GaleraCluster.start((text) =>
    text.replace('"gmcast.listen_addr', '"pc.ignore_sb=true; gmcast.listen_addr'),
  );
  close = () => cluster.close();
  const pool = mysql.createPool(cluster.nodes[0]!.url);
  await mysqlStorage(pool, { table }).createTable();
  await pool.end();
  const load = await startLoad(cluster);
  // Of three nodes that are apart, none has half of the others; of two, each has.
  const [lost, ...nodes] = cluster.nodes;
  await lost!.daemon.signal('SIGKILL');
  await load.tells('created', 500);
  const [, one, other] = cluster.network.nodes;
  cluster.network.cut([one!], [other!]);
  await sleep(faultMs);
  // While they are apart: afterwards each says that it is the cluster.
  await record(task.name, load, () => Promise.all(nodes.map((node) => node.ownPlants(table))));
});

it.skipIf(inject('obstacle'))('a client that retries without acceptReplays', async ({ task }) => {
  const cluster = await patroni();
  const load = await startLoad(cluster, 'without acceptReplays');
  const primary = await cluster.primary();
  for (let killed = 0; killed < 60; ) killed += await primary.killConnections('pg_terminate_backend');
  await load.tells('created', 500);
  await record(task.name, load, () => cluster.holdings(table));
});

/** Writes some of the violations, and what the creators of those ids were told. */
async function record(
  control: string,
  load: Load,
  plants: () => Promise<readonly Holdings[]>,
): Promise<void> {
  const attempts = await load.stop();
  const machines = await plants();
  const violations = violationsIn({ attempts, machines });
  expect(violations).not.toEqual([]);
  const kinds = [...new Set(violations.map(({ kind }) => kind))];
  const ids = kinds.flatMap((kind) =>
    [...new Set(violations.filter((violation) => violation.kind === kind).map(({ id }) => id))].slice(0, 2),
  );
  // And some that are as they should be.
  const wrong = new Set(violations.map(({ id }) => id));
  ids.push(...[...new Set(attempts.map(({ id }) => id))].filter((id) => !wrong.has(id)).slice(0, 2));
  const recorded: Control = {
    control,
    attempts: attempts
      .filter(({ id }) => ids.includes(id))
      .map(({ number: _, ...attempt }) => ({ ...attempt, took: Math.round(attempt.took) })),
    machines: machines.map((held) => [...held].filter(([id]) => ids.includes(id))),
  };
  const counts = kinds.map((kind) => `${violations.filter((each) => each.kind === kind).length} × ${kind}`);
  console.log(`${control}: ${counts.join(', ')}`);
  const others = readControls().filter((other) => other.control !== control);
  writeFileSync(file, `${JSON.stringify([...others, recorded], null, 1)}\n`);
}

function readControls(): Control[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}
