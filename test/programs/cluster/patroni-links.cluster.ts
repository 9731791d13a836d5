import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import { faultsOfLinks, flap, trialsOn } from './partitions.js';
import { PatroniCluster } from './patroni.js';

describe.skipIf(inject('obstacle'))(`postgresStorage while Patroni's links fail (seed ${seed})`, () => {
  const trials = trialsOn(() => PatroniCluster.start({ diskMiB: 512 }));

  const keepsItsPromises = (fault: string, fail: () => Promise<void>) => trials.survive(fault, fail);

  it.each(Object.entries(faultsOfLinks))('keeps its promises with %s', (fault, fail) =>
    keepsItsPromises(fault, () => fail(trials.cluster.network)),
  );

  it('keeps its promises while the links of the primary come and go every 2 s for 40 s', () =>
    keepsItsPromises('the links of the primary come and go every 2 s', async () =>
      flap(trials.cluster.network, (await trials.cluster.primary()).machine),
    ));

  it('keeps its promises at a switchover in the midst of a partition', () =>
    keepsItsPromises('a switchover while the other standby is cut off', async () => {
      const primary = await trials.cluster.primary();
      const standby = await trials.cluster.synchronousStandby();
      const other = trials.cluster.nodes.find((node) => node !== primary && node !== standby)!;
      trials.cluster.network.cut([other.machine], [primary.machine, standby.machine]);
      await sleep(10_000);
      await trials.cluster.switchOver();
      await sleep(20_000);
    }));

  it('keeps its promises with a full disk on the primary for 30 s', () =>
    keepsItsPromises('a full disk on the primary', async () => {
      const primary = await trials.cluster.primary();
      primary.fillDisk();
      await sleep(30_000);
      primary.freeDisk();
    }));
});
