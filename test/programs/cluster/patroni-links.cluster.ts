import { describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import { faultsOfLinks, trialsOn } from './partitions.js';
import { PatroniCluster } from './patroni.js';

describe.skipIf(inject('obstacle'))(`postgresStorage while Patroni's links fail (seed ${seed})`, () => {
  const trials = trialsOn(() => PatroniCluster.start());

  it.each(Object.entries(faultsOfLinks))('keeps its promises with %s', (fault, fail) =>
    trials.survive(fault, () => fail(trials.cluster.network)),
  );
});
