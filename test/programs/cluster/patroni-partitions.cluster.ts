import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, beforeEach, describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import type { Machine } from './network.js';
import { apart, Findings, faultMs, survive } from './partitions.js';
import { PatroniCluster } from './patroni.js';

/** The machines by what they do when the fault comes. */
interface Roles {
  readonly primary: Machine;
  readonly standby: Machine;
  readonly other: Machine;
}

describe.skipIf(inject('obstacle'))(
  `postgresStorage while the network of Patroni splits (seed ${seed})`,
  () => {
    let cluster: PatroniCluster;
    let table: string;
    let tables = 0;
    const findings = new Findings();

    beforeAll(async () => {
      cluster = await PatroniCluster.start();
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

    async function roles(): Promise<Roles> {
      const primary = (await cluster.primary()).machine;
      const standby = (await cluster.synchronousStandby()).machine;
      const other = cluster.network.nodes.find((machine) => machine !== primary && machine !== standby)!;
      return { primary, standby, other };
    }

    it.each<[string, (roles: Roles) => void]>([
      [
        'the primary cut off from its peers, not from the app',
        ({ primary, standby, other }) => cluster.network.cut([primary], [standby, other]),
      ],
      [
        'the primary cut off from the app, not from its peers',
        ({ primary }) => cluster.network.cut([primary], [cluster.network.app]),
      ],
      [
        'the primary cut off from etcd alone',
        ({ primary, standby, other }) =>
          cluster.network.drop(primary, { from: [standby, other], ports: [2379, 2380] }),
      ],
      [
        'what the primary sends to its peers is lost',
        ({ primary, standby, other }) => {
          for (const peer of [standby, other]) cluster.network.drop(peer, { from: [primary] });
        },
      ],
      [
        'what its peers send to the primary is lost',
        ({ primary, standby, other }) => cluster.network.drop(primary, { from: [standby, other] }),
      ],
      [
        'no link between the primary and the synchronous standby',
        ({ primary, standby }) => cluster.network.cut([primary], [standby]),
      ],
      [
        'the primary and a standby cut off from the app',
        ({ primary, standby }) => cluster.network.cut([primary, standby], [cluster.network.app]),
      ],
    ])('keeps its promises with %s for 30 s', async (fault, split) => {
      const fail = async () => {
        split(await roles());
        await sleep(faultMs);
      };
      await survive({ cluster, table, findings }, fault, fail);
    });

    it('keeps its promises with all machines apart for 30 s', () =>
      survive({ cluster, table, findings }, 'all machines apart', () => apart(cluster.network)));
  },
);
