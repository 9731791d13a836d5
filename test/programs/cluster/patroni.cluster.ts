import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { randomOf, seed } from '../../support/random.js';
import { faultsIn } from './checker.js';
import { failoverFile, failoverOf, failoverPicture } from './failover-picture.js';
import { Load } from './load.js';
import { PatroniCluster, type PatroniNode } from './patroni.js';
import { figuresOf, type Row, tableOf } from './timeline.js';

describe.skipIf(inject('obstacle'))(`postgresStorage before Patroni, etcd and HAProxy (seed ${seed})`, () => {
  const choose = randomOf(seed);
  const rows: Row[] = [];
  let cluster: PatroniCluster;
  let load: Load;
  let table: string;
  let tables = 0;

  beforeAll(async () => {
    cluster = await PatroniCluster.start();
  });
  afterAll(async () => {
    console.log(tableOf(rows));
    await cluster?.close();
  });

  beforeEach(async () => {
    await cluster.healthy();
    table = `plants${tables++}`;
    const pool = new pg.Pool({ connectionString: cluster.url });
    await postgresStorage(pool, { table }).createTable();
    await pool.end();
  });
  afterEach(() => load?.kill());

  /** Creators at work through HAProxy, or through PgBouncer as well. */
  async function start(url = cluster.url): Promise<void> {
    // Everything as it comes, as in an app that read nothing but the first page.
    load = new Load({ table, urls: [url, url], pauseMs: 20 });
    await load.tells('created', 1_000 + Math.floor(choose() * 500));
  }

  /** Freezes a whole machine for so long. Resolves with the two moments. */
  async function freeze(node: PatroniNode, ms: number): Promise<{ frozen: number; resumed: number }> {
    const frozen = Date.now();
    await node.signal('SIGSTOP');
    await sleep(ms);
    const resumed = Date.now();
    await node.signal('SIGCONT');
    return { frozen, resumed };
  }

  /** Compares the plants of all three nodes with the outcomes, and prints a line of the table. */
  async function faults(what: string): Promise<string[]> {
    const told = await load.stop();
    console.log(load.summary);
    const faults = faultsIn(told, await cluster.holdings(table));
    rows.push({ what, ...figuresOf(told), violations: faults.length });
    return faults.slice(0, 20);
  }

  it('keeps its promises when the primary is killed', async () => {
    await start();
    (await cluster.primary()).killPostgres();
    await load.tells('created', 2_000);
    expect(await faults('PostgreSQL of the primary killed')).toEqual([]);
  });

  it('keeps its promises when the machine of the primary is lost, and comes back', async () => {
    await start();
    const lost = await cluster.primary();
    await lost.signal('SIGKILL');
    await load.tells('created', 2_000);
    lost.start();
    await cluster.healthy();
    expect(await faults('machine of the primary lost')).toEqual([]);
  });

  it('keeps its promises when the machine of the primary is frozen for 40 s, and continues', async () => {
    await start();
    const { frozen, resumed } = await freeze(await cluster.primary(), 40_000);
    await load.tells('created', 10_000);
    await cluster.healthy();
    expect(await faults('machine of the primary frozen for 40 s')).toEqual([]);
    const marks = [
      { at: frozen, text: 'the machine of the primary is frozen' },
      { at: resumed, text: 'it goes on' },
    ];
    const title = 'A failover as 48 creators see it: Patroni, ttl 20 s';
    writeFileSync(failoverFile, failoverPicture(failoverOf(title, load.told, marks)));
  });

  it('keeps its promises at a planned switchover', async () => {
    await start();
    await cluster.switchOver();
    await load.tells('created', 2_000);
    expect(await faults('planned switchover')).toEqual([]);
  });

  it('keeps its promises when all of etcd is lost for 15 s', async () => {
    await start();
    await Promise.all(cluster.nodes.map(({ etcd }) => etcd.signal('SIGKILL')));
    await sleep(15_000);
    for (const node of cluster.nodes) node.startEtcd();
    await load.tells('created', 2_000);
    expect(await faults('all of etcd lost for 15 s')).toEqual([]);
  });

  it('keeps its promises when the synchronous standby is killed', async () => {
    await start();
    (await cluster.synchronousStandby()).killPostgres();
    await load.tells('created', 2_000);
    expect(await faults('PostgreSQL of the synchronous standby killed')).toEqual([]);
  });

  it('keeps its promises when the machine of the synchronous standby is frozen for 20 s', async () => {
    await start();
    await freeze(await cluster.synchronousStandby(), 20_000);
    await load.tells('created', 2_000);
    expect(await faults('machine of the synchronous standby frozen for 20 s')).toEqual([]);
  });

  it('keeps its promises through PgBouncer when the primary is killed', async () => {
    await start(cluster.pgbouncerUrl);
    (await cluster.primary()).killPostgres();
    await load.tells('created', 2_000);
    expect(await faults('PostgreSQL of the primary killed, through PgBouncer')).toEqual([]);
  });
});
