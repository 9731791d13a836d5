// How far one database goes, by instances of the app: `npm run bench:cluster`, once `npm run test:cluster` has
// installed the servers. Prints the table of examples/cluster/README.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { Progress } from '../../support/progress.js';
import { GaleraCluster, type MariaDb, oneMariaDb } from './galera.js';
import { clean, type Daemon } from './machine.js';
import { onePostgres, type Postgres, primaryAndStandby } from './postgres.js';

/** The settings of an instance, passed when it starts. */
export interface InstanceSettings {
  readonly instance: number;
  readonly seconds: number;
  readonly url: string;
}

/** The figures of an instance: the time of each create, in milliseconds, and the CPU seconds that it used. */
export interface Measured {
  readonly times: readonly number[];
  readonly cpu: number;
}

/** A database to measure: where instances connect, whose processor time counts, and how many commits it has made. */
interface Database {
  readonly what: string;
  readonly urls: readonly string[];
  readonly daemons: readonly Daemon[];
  readonly commits: () => Promise<number>;
}

const seconds = Number(process.env.SECONDS ?? 5);
const counts = [1, 2, 4];
// Five databases.
const progress = new Progress(5 * counts.length);

async function measure({ what, urls, daemons, commits }: Database): Promise<void> {
  for (const count of counts) {
    progress.show(`${what}, ${count} instances`);
    const children = Array.from({ length: count }, (_, instance) => {
      const settings: InstanceSettings = { instance, seconds, url: urls[instance % urls.length]! };
      return fork(
        fileURLToPath(new URL('measure-instance.ts', import.meta.url)),
        [JSON.stringify(settings)],
        {
          execArgv: ['--import', 'tsx'],
          serialization: 'advanced',
        },
      );
    });
    await Promise.all(children.map((child) => once(child, 'message')));
    const sync = syncTime();
    const before = { commits: await commits(), cpu: cpuOf(daemons) };
    const answers = children.map((child) => once(child, 'message'));
    for (const child of children) child.send('go');
    const measured = (await Promise.all(answers)).map(([message]) => message as Measured);
    const cpu = cpuOf(daemons) - before.cpu;
    const times = measured.flatMap((instance) => instance.times).sort((a, b) => a - b);
    const share = (used: number) => `${((used / seconds / cpus().length) * 100).toFixed(0)} %`;
    const cells = [
      what,
      count,
      Math.round(times.length / seconds),
      `${times[times.length >> 1]!.toFixed(1)} ms`,
      Math.round(times.length / ((await commits()) - before.commits)),
      share(cpu),
      share(measured.reduce((sum, instance) => sum + instance.cpu, 0)),
      `${sync.toFixed(1)} ms`,
    ];
    progress.advance();
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function cpuOf(daemons: readonly Daemon[]): number {
  return daemons.reduce((sum, daemon) => sum + daemon.cpuSeconds, 0);
}

async function commitsOfPostgres(server: Postgres): Promise<number> {
  const [[count] = []] = await server.query(
    "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'",
  );
  return Number(count);
}

/** A node of Galera also counts the inserts that it gets from the other nodes. */
async function commitsOfMariaDb(server: MariaDb): Promise<number> {
  const [row] = await server.query("SHOW GLOBAL STATUS LIKE 'Com_insert'");
  return Number(row?.[1]);
}

async function measurePostgres(what: string, server: Postgres, daemons: readonly Daemon[]): Promise<void> {
  const pool = new pg.Pool({ connectionString: server.url });
  await postgresStorage(pool).createTable();
  await pool.end();
  await measure({ what, urls: [server.url], daemons, commits: () => commitsOfPostgres(server) });
}

async function createMariaDbTable(server: MariaDb): Promise<void> {
  const pool = mysql.createPool(server.url);
  await mysqlStorage(pool).createTable();
  await pool.end();
}

/** The median time of one sync of the disk at this moment, in milliseconds. */
function syncTime(): number {
  const folder = mkdtempSync(join(tmpdir(), 'plants-sync-'));
  const file = openSync(join(folder, 'file'), 'w');
  const times = Array.from({ length: 99 }, () => {
    const start = performance.now();
    writeSync(file, Buffer.alloc(8_192));
    fdatasyncSync(file);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  closeSync(file);
  rmSync(folder, { recursive: true });
  return times[49]!;
}

console.log('| database | instances | plants/s | p50 | plants a commit | servers | instances | one sync |');
console.log('|---|---|---|---|---|---|---|---|');

const postgres = await onePostgres();
await measurePostgres('PostgreSQL 15, one server', postgres, [postgres.daemon]);
await clean([postgres.daemon], postgres.daemon.folder);

const pair = await primaryAndStandby({ synchronous: true });
const pairDaemons = pair.map(({ daemon }) => daemon);
await measurePostgres('PostgreSQL 15, a synchronous pair', pair[0], pairDaemons);
await clean(pairDaemons, pair[0].daemon.folder);

const mariadb = await oneMariaDb();
await createMariaDbTable(mariadb);
await measure({
  what: 'MariaDB 10.11, one server',
  urls: [mariadb.url],
  daemons: [mariadb.daemon],
  commits: () => commitsOfMariaDb(mariadb),
});
await clean([mariadb.daemon], mariadb.daemon.folder);

const galera = await GaleraCluster.start();
const { nodes } = galera;
await createMariaDbTable(nodes[0]!);
const daemons = nodes.map(({ daemon }) => daemon);
const commits = () => commitsOfMariaDb(nodes[0]!);
const urls = nodes.map(({ url }) => url);
await measure({ what: 'three Galera nodes, one written to', urls: urls.slice(0, 1), daemons, commits });
await measure({ what: 'three Galera nodes, all written to', urls, daemons, commits });
await galera.close();
