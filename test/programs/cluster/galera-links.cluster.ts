import { describe, inject, it } from 'vitest';
import { randomOf, seed } from '../../support/random.js';
import { GaleraCluster } from './galera.js';
import { faultsOfLinks, flap, trialsOn } from './partitions.js';

describe.skipIf(inject('obstacle'))(`mysqlStorage while Galera's links fail (seed ${seed})`, () => {
  const choose = randomOf(seed);
  const trials = trialsOn(() => GaleraCluster.start());

  it.each(Object.entries(faultsOfLinks))('keeps its promises with %s', (fault, fail) =>
    trials.survive(fault, () => fail(trials.cluster.network)),
  );

  it('keeps its promises while the links of a node come and go every 2 s for 40 s', () => {
    const { network } = trials.cluster;
    const node = network.nodes[Math.floor(choose() * network.nodes.length)]!;
    return trials.survive('the links of a node come and go every 2 s', async () => flap(network, node));
  });
});
