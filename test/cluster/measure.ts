import mysql from 'mysql2/promise';
import pg from 'pg';
import type { PlantStorage } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { galeraCluster, oneMariaDb } from './galera.js';
import { clean, type Daemon } from './machine.js';
import { primaryAndStandby } from './postgres.js';

// What a batch gains: `node --import tsx test/cluster/measure.ts`, once `npm run test:cluster` has installed the servers.

const creators = 64;
const seconds = Number(process.env.SECONDS ?? 5);
const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};

/** Plants a second, and the median of what a create took. */
async function measure(what: string, create: PlantStorage['create']): Promise<void> {
  const times: number[] = [];
  let id = BigInt(Date.now()) * 1_000_000n;
  const run = async (end: number, kept?: number[]) => {
    while (performance.now() < end) {
      const start = performance.now();
      const outcome = await create({ id: id++, name: 'Rosa canina', tag: 'shrub' }, context);
      if (outcome !== 'created') throw new Error(outcome);
      kept?.push(performance.now() - start);
    }
  };
  const all = (ms: number, kept?: number[]) => {
    const end = performance.now() + ms;
    return Promise.all(Array.from({ length: creators }, () => run(end, kept)));
  };
  await all(1_000);
  await all(seconds * 1_000, times);
  times.sort((a, b) => a - b);
  const rate = Math.round(times.length / seconds);
  console.log(
    `${what.padEnd(60)} ${String(rate).padStart(7)}/s   p50 ${times[times.length >> 1]?.toFixed(1)} ms`,
  );
}

/** Each to the next in turn. */
function inTurn(storages: readonly Pick<PlantStorage, 'create'>[]): PlantStorage['create'] {
  let next = 0;
  return (plant) => storages[next++ % storages.length]!.create(plant, context);
}

async function measureMysql(what: string, urls: readonly string[]): Promise<void> {
  const pools = urls.map((uri) => mysql.createPool({ uri, connectionLimit: creators }));
  const storages = pools.map((pool) => mysqlStorage(pool));
  await storages[0]!.createTable();
  const naive = pools.map((pool) => ({
    async create({ id, name, tag }) {
      await pool.execute('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)', [
        String(id),
        name,
        tag ?? null,
      ]);
      return 'created';
    },
  })) satisfies Pick<PlantStorage, 'create'>[];
  await measure(`${what}, one INSERT each`, inTurn(naive));
  await measure(`${what}, group commit`, inTurn(storages));
  await Promise.all(pools.map((pool) => pool.end()));
}

async function measurePostgres(what: string, url: string): Promise<void> {
  // Not more connections than the server takes.
  const pool = new pg.Pool({ connectionString: url, max: 40 });
  const storage = postgresStorage(pool);
  await storage.createTable();
  await measure(`${what}, one INSERT each`, async ({ id, name, tag }) => {
    await pool.query('INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      String(id),
      name,
      tag,
    ]);
    return 'created';
  });
  await measure(`${what}, group commit`, storage.create);
  await pool.end();
}

async function end(...daemons: Daemon[]): Promise<void> {
  await clean(daemons, daemons[0]!.folder);
}

const alone = await oneMariaDb();
await measureMysql('one MariaDB', [alone.url]);
await end(alone.daemon);

const nodes = await galeraCluster();
await measureMysql('three Galera nodes, one of them written to', [nodes[0]!.url]);
await measureMysql(
  'three Galera nodes, all written to',
  nodes.map(({ url }) => url),
);
await end(...nodes.map(({ daemon }) => daemon));

const [unwatched, follower] = await primaryAndStandby({ synchronous: false });
await follower.daemon.signal('SIGKILL');
await measurePostgres('PostgreSQL alone', unwatched.url);
await end(unwatched.daemon, follower.daemon);

const [primary, standby] = await primaryAndStandby({ synchronous: true });
await measurePostgres('PostgreSQL with a synchronous standby', primary.url);
await primary.query("ALTER SYSTEM SET synchronous_commit = 'remote_apply'");
await primary.query('SELECT pg_reload_conf()');
await measurePostgres('PostgreSQL with remote_apply', primary.url);
await end(primary.daemon, standby.daemon);
