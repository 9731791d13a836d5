import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, beforeEach, describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import { Findings, faultsOfLinks, flap, survive } from './partitions.js';
import { PatroniCluster } from './patroni.js';

describe.skipIf(inject('obstacle'))(`postgresStorage while Patroni's links fail (seed ${seed})`, () => {
  let cluster: PatroniCluster;
  let table: string;
  let tables = 0;
  const findings = new Findings();

  beforeAll(async () => {
    cluster = await PatroniCluster.start({ diskMiB: 512 });
  });
  afterAll(async () => {
    findings.print();
    await cluster?.close();
  });
  beforeEach(async () => {
    await cluster.healthy();
    table = `plants${tables++}`;
    const pool = new pg.Pool({ connectionString: cluster.url });
    await postgresStorage(pool, { table }).createTable();
    await pool.end();
  });

  const keepsItsPromises = (fault: string, fail: () => Promise<void>) =>
    survive({ cluster, table, findings }, fault, fail);

  it.each(Object.entries(faultsOfLinks))('keeps its promises with %s', (fault, fail) =>
    keepsItsPromises(fault, () => fail(cluster.network)),
  );

  it('keeps its promises while the links of the primary come and go every 2 s for 40 s', () =>
    keepsItsPromises('the links of the primary come and go every 2 s', async () =>
      flap(cluster.network, (await cluster.primary()).machine),
    ));

  it('keeps its promises at a switchover in the midst of a partition', () =>
    keepsItsPromises('a switchover while the other standby is cut off', async () => {
      const primary = await cluster.primary();
      const standby = await cluster.synchronousStandby();
      const other = cluster.nodes.find((node) => node !== primary && node !== standby)!;
      cluster.network.cut([other.machine], [primary.machine, standby.machine]);
      await sleep(10_000);
      await cluster.switchOver();
      await sleep(20_000);
    }));

  it('keeps its promises with a full disk on the primary for 30 s', () =>
    keepsItsPromises('a full disk on the primary', async () => {
      const primary = await cluster.primary();
      primary.fillDisk();
      await sleep(30_000);
      primary.freeDisk();
    }));
});
