import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import { faultMs, flap, trialsOn } from './partitions.js';
import { PatroniCluster } from './patroni.js';

describe.skipIf(inject('obstacle'))(
  `postgresStorage while Patroni's primary has faults (seed ${seed})`,
  () => {
    const trials = trialsOn(() => PatroniCluster.start({ diskMiB: 512 }));

    it('keeps its promises with the primary cut off from the app, not from its peers for 30 s', () =>
      trials.survive('the primary cut off from the app, not from its peers', async () => {
        const primary = await trials.cluster.primary();
        trials.cluster.network.cut([primary.machine], [trials.cluster.network.app]);
        await sleep(faultMs);
      }));

    it('keeps its promises with the primary and a standby cut off from the app for 30 s', () =>
      trials.survive('the primary and a standby cut off from the app', async () => {
        const primary = await trials.cluster.primary();
        const standby = await trials.cluster.synchronousStandby();
        trials.cluster.network.cut([primary.machine, standby.machine], [trials.cluster.network.app]);
        await sleep(faultMs);
      }));

    it('keeps its promises while the links of the primary come and go every 2 s for 40 s', () =>
      trials.survive('the links of the primary come and go every 2 s', async () =>
        flap(trials.cluster.network, (await trials.cluster.primary()).machine),
      ));

    it('keeps its promises at a switchover in the midst of a partition', () =>
      trials.survive('a switchover while the other standby is cut off', async () => {
        const primary = await trials.cluster.primary();
        const standby = await trials.cluster.synchronousStandby();
        const other = trials.cluster.nodes.find((node) => node !== primary && node !== standby)!;
        trials.cluster.network.cut([other.machine], [primary.machine, standby.machine]);
        await sleep(10_000);
        await trials.cluster.switchOver();
        await sleep(20_000);
      }));

    it('keeps its promises with a full disk on the primary for 30 s', () =>
      trials.survive('a full disk on the primary', async () => {
        const primary = await trials.cluster.primary();
        primary.fillDisk();
        await sleep(30_000);
        primary.freeDisk();
      }));
  },
);
