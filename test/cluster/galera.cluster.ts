import mysql from 'mysql2/promise';
import { mysqlStorage } from 'plant-store/mysql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { faultsIn } from './checker.js';
import { galeraCluster, type MariaDb } from './galera.js';
import { Load, random, seed } from './load.js';
import { clean } from './machine.js';

describe.skipIf(inject('obstacle'))(`mysqlStorage on three Galera nodes (seed ${seed})`, () => {
  const choose = random(seed);
  let nodes: MariaDb[];
  let load: Load;
  let tables = 0;

  beforeAll(async () => {
    nodes = await galeraCluster();
  });
  afterAll(
    () =>
      nodes &&
      clean(
        nodes.map(({ daemon }) => daemon),
        nodes[0]!.daemon.folder,
      ),
  );

  beforeEach(async () => {
    const table = `plants${tables++}`;
    const pool = mysql.createPool(nodes[0]!.url);
    await mysqlStorage(pool, { table }).createTable();
    await pool.end();
    load = new Load({ table, urls: nodes.map(({ url }) => url) });
    // A fault comes when all are at work.
    await load.tells('created', 300 + Math.floor(choose() * 700));
  });
  afterEach(() => load.kill());

  /** What every node holds against what was told, after all creators had their last answer. */
  async function faults(): Promise<string[]> {
    const told = await load.stop();
    console.log(load.summary);
    await Promise.all(nodes.map((node) => node.ready()));
    return faultsIn(told, await Promise.all(nodes.map((node) => node.plants(`plants${tables - 1}`))));
  }

  function anyNode(): MariaDb {
    return nodes[Math.floor(choose() * nodes.length)]!;
  }

  it('keeps its promises while nothing fails', async () => {
    await load.tells('created', 3_000);
    await load.tells('taken', 100);
    expect(await faults()).toEqual([]);
    expect(load.counts.unknown).toBe(0);
    // Otherwise no two nodes ever raced.
    const conflicts = await Promise.all(nodes.map((node) => node.conflicts()));
    expect(Math.max(...conflicts)).toBeGreaterThan(0);
  });

  it('keeps its promises while connections and statements are killed', async () => {
    for (let killed = 0; killed < 60; ) {
      killed += await anyNode().killConnections(choose() < 0.5 ? 'QUERY' : 'CONNECTION');
    }
    await load.tells('created', 300);
    expect(await faults()).toEqual([]);
    expect(load.counts.unknown).toBeGreaterThan(0);
  });

  it('keeps its promises when a node is killed and brought back', async () => {
    const node = anyNode();
    await node.daemon.signal('SIGKILL');
    await load.tells('created', 300);
    node.rejoin();
    await node.ready();
    await load.tells('created', 300);
    expect(await faults()).toEqual([]);
  });

  it('keeps its promises when a node is frozen for 12 s, thrown out, and resumed', async () => {
    const node = anyNode();
    await node.daemon.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    await node.daemon.signal('SIGCONT');
    await load.tells('created', 300);
    await node.ready();
    await load.tells('created', 300);
    expect(await faults()).toEqual([]);
    expect(load.counts.unknown).toBeGreaterThan(0);
  });

  it('keeps its promises when all nodes are killed and the most advanced starts the cluster again', async () => {
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
    expect(await faults()).toEqual([]);
  });
});
