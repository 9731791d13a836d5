import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import type { Machine } from './network.js';
import { apart, faultMs, trialsOn } from './partitions.js';
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
    const trials = trialsOn(() => PatroniCluster.start());

    async function roles(): Promise<Roles> {
      const primary = (await trials.cluster.primary()).machine;
      const standby = (await trials.cluster.synchronousStandby()).machine;
      const other = trials.cluster.network.nodes.find(
        (machine) => machine !== primary && machine !== standby,
      )!;
      return { primary, standby, other };
    }

    it.each<[string, (roles: Roles) => void]>([
      [
        'the primary cut off from its peers, not from the app',
        ({ primary, standby, other }) => trials.cluster.network.cut([primary], [standby, other]),
      ],
      [
        'the primary cut off from etcd alone',
        ({ primary, standby, other }) =>
          trials.cluster.network.drop(primary, { from: [standby, other], ports: [2379, 2380] }),
      ],
      [
        'what the primary sends to its peers is lost',
        ({ primary, standby, other }) => {
          for (const peer of [standby, other]) trials.cluster.network.drop(peer, { from: [primary] });
        },
      ],
      [
        'what its peers send to the primary is lost',
        ({ primary, standby, other }) => trials.cluster.network.drop(primary, { from: [standby, other] }),
      ],
      [
        'no link between the primary and the synchronous standby',
        ({ primary, standby }) => trials.cluster.network.cut([primary], [standby]),
      ],
    ])('keeps its promises with %s for 30 s', async (fault, split) => {
      const fail = async () => {
        split(await roles());
        await sleep(faultMs);
      };
      await trials.survive(fault, fail);
    });

    it('keeps its promises with all machines apart for 30 s', () =>
      trials.survive('all machines apart', () => apart(trials.cluster.network)));
  },
);
