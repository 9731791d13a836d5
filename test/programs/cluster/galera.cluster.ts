import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { randomOf, seed } from '../../support/random.js';
import { GaleraCluster, type MariaDb } from './galera.js';
import { Load } from './load.js';

describe.skipIf(inject('obstacle'))(`mysqlStorage on three Galera nodes (seed ${seed})`, () => {
  const choose = randomOf(seed);
  let cluster: GaleraCluster;
  let nodes: readonly MariaDb[];
  let load: Load;
  let table: string;

  beforeAll(async () => {
    cluster = await GaleraCluster.start();
    nodes = cluster.nodes;
  });
  afterAll(() => cluster?.close());

  beforeEach(async () => {
    table = await cluster.newTable();
  });
  afterEach(() => load.kill());

  /** Creators at work on all three nodes. */
  async function start(): Promise<void> {
    load = new Load(
      { table: table, urls: nodes.map(({ url }) => url), timeoutMs: 4_000 },
      cluster.network.app,
    );
    // A fault comes when all are at work.
    await load.tells('created', 300 + Math.floor(choose() * 700));
  }

  /** Creators at work through HAProxy, with everything as it comes. */
  async function startThroughHaproxy(): Promise<void> {
    load = new Load({ table: table, urls: [cluster.url, cluster.url], pauseMs: 20 }, cluster.network.app);
    await load.tells('created', 1_000 + Math.floor(choose() * 500));
  }

  const violations = () => load.violations(() => cluster.holdings(table));

  function anyNode(): MariaDb {
    return nodes[Math.floor(choose() * nodes.length)]!;
  }

  it('keeps its promises while nothing fails', async () => {
    await start();
    await load.tells('created', 3_000);
    await load.tells('taken', 100);
    expect(await violations()).toEqual([]);
    expect(load.counts.unknown + load.counts.refused).toBe(0);
    // Otherwise no two nodes ever raced.
    const conflicts = await Promise.all(nodes.map((node) => node.conflicts()));
    expect(Math.max(...conflicts)).toBeGreaterThan(0);
  });

  it('keeps its promises while connections and statements are killed', async () => {
    await start();
    for (let killed = 0; killed < 60; ) {
      killed += await anyNode().killConnections(choose() < 0.5 ? 'QUERY' : 'CONNECTION');
    }
    await load.tells('created', 300);
    expect(await violations()).toEqual([]);
    expect(load.counts.unknown).toBeGreaterThan(0);
  });

  it.each([
    ['when', start, 300, 300],
    ['behind HAProxy when', startThroughHaproxy, 2_000, 1_000],
  ] as const)(
    'keeps its promises %s a node is killed and brought back',
    async (_, begin, createdMeanwhile, createdAfter) => {
      await begin();
      const node = anyNode();
      await node.daemon.signal('SIGKILL');
      await load.tells('created', createdMeanwhile);
      node.rejoin();
      await node.ready();
      await load.tells('created', createdAfter);
      expect(await violations()).toEqual([]);
    },
  );

  it('keeps its promises when a node is frozen for 12 s, evicted, and resumed', async () => {
    await start();
    const node = anyNode();
    await node.daemon.signal('SIGSTOP');
    await sleep(12_000);
    await node.daemon.signal('SIGCONT');
    await load.tells('created', 300);
    await node.ready();
    await load.tells('created', 300);
    expect(await violations()).toEqual([]);
    // Those whose statement was sent to the node before.
    expect(load.counts.unknown).toBeGreaterThan(0);
  });

  it('keeps its promises when all nodes are killed and the most advanced starts the cluster again', async () => {
    await start();
    await Promise.all(nodes.map(({ daemon }) => daemon.signal('SIGKILL')));
    const positions = nodes.map((node) => Number(node.recoveredPosition().split(':')[1]));
    const [first, ...others] = [...nodes.keys()]
      .sort((a, b) => positions[b]! - positions[a]!)
      .map((i) => nodes[i]!);
    first!.allowBootstrap();
    first!.rejoin('--wsrep-new-cluster');
    await first!.ready();
    for (const node of others) {
      node.rejoin();
      await node.ready();
    }
    await load.tells('created', 300);
    expect(await violations()).toEqual([]);
  });
});
