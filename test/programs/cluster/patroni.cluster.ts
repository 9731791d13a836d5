import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { randomOf, seed } from '../../support/random.js';
import { Load } from './load.js';
import { PatroniCluster } from './patroni.js';
import type { PatroniNode } from './patroni-node.js';

describe.skipIf(inject('obstacle'))(`postgresStorage before Patroni, etcd and HAProxy (seed ${seed})`, () => {
  const choose = randomOf(seed);
  let cluster: PatroniCluster;
  let load: Load;
  let table: string;

  beforeAll(async () => {
    cluster = await PatroniCluster.start();
  });
  afterAll(() => cluster?.close());

  beforeEach(async () => {
    await cluster.healthy();
    table = await cluster.newTable();
  });
  afterEach(() => load?.kill());

  /** Freezes a whole machine for so long. */
  async function freeze(node: PatroniNode, ms: number): Promise<void> {
    await node.signal('SIGSTOP');
    await sleep(ms);
    await node.signal('SIGCONT');
  }

  /** While creators are at work, something fails; `fail` may return what repairs it. */
  async function survives(
    fail: () => Promise<(() => Promise<void>) | void>,
    { created = 2_000, url = cluster.url } = {},
  ): Promise<void> {
    // Everything as it comes, as in an app that read nothing but the first page.
    load = new Load({ table, urls: [url, url], pauseMs: 20 }, cluster.network.app);
    await load.tells('created', 1_000 + Math.floor(choose() * 500));
    const repair = await fail();
    await load.tells('created', created);
    await repair?.();
    expect(await load.violations(() => cluster.holdings(table))).toEqual([]);
  }

  const killPrimary = async () => (await cluster.primary()).killPostgres();

  it('keeps its promises while nothing fails', async () => {
    await survives(() => load.tells('taken', 100));
    expect(load.counts.unknown + load.counts.refused).toBe(0);
  });

  it('keeps its promises while connections and statements are killed', async () => {
    await survives(async () => {
      const primary = await cluster.primary();
      for (let killed = 0; killed < 60; )
        killed += await primary.killConnections(
          choose() < 0.5 ? 'pg_terminate_backend' : 'pg_cancel_backend',
        );
    });
    expect(load.counts.unknown).toBeGreaterThan(0);
  });

  it('keeps its promises when the primary is killed', () => survives(killPrimary));

  it('keeps its promises when the machine of the primary is lost, and comes back', () =>
    survives(async () => {
      const lost = await cluster.primary();
      await lost.signal('SIGKILL');
      return () => {
        lost.start();
        return cluster.healthy();
      };
    }));

  it('keeps its promises when the machine of the primary is frozen for 40 s, and continues', () =>
    survives(
      async () => {
        await freeze(await cluster.primary(), 40_000);
        return () => cluster.healthy();
      },
      { created: 10_000 },
    ));

  it('keeps its promises at a planned switchover', () => survives(() => cluster.switchOver()));

  it('keeps its promises when all of etcd is lost for 15 s', () =>
    survives(async () => {
      await Promise.all(cluster.nodes.map(({ etcd }) => etcd.signal('SIGKILL')));
      await sleep(15_000);
      for (const node of cluster.nodes) node.startEtcd();
    }));

  it('keeps its promises when the synchronous standby is killed', () =>
    survives(async () => (await cluster.synchronousStandby()).killPostgres()));

  it('keeps its promises through PgBouncer when the primary is killed', () =>
    survives(killPrimary, { url: cluster.pgbouncerUrl }));
});
