import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject, it } from 'vitest';
import { randomOf, seed } from '../../support/random.js';
import { GaleraCluster } from './galera.js';
import type { Machine, Network } from './network.js';
import { apart, faultMs, trialsOn } from './partitions.js';

describe.skipIf(inject('obstacle'))(`mysqlStorage while the network of Galera splits (seed ${seed})`, () => {
  const choose = randomOf(seed);
  const trials = trialsOn(() => GaleraCluster.start());

  /** Any node, and the two others: HAProxy spreads the connections over all three. */
  function anyNode(): [Machine, [Machine, Machine]] {
    const { nodes } = trials.cluster.network;
    const node = nodes[Math.floor(choose() * nodes.length)]!;
    return [node, nodes.filter((other) => other !== node) as [Machine, Machine]];
  }

  it.each<[string, (network: Network, node: Machine, others: [Machine, Machine]) => void]>([
    [
      'a node cut off from its peers, not from the app',
      (network, node, others) => network.cut([node], others),
    ],
    [
      'a node cut off from the app, not from its peers',
      (network, node) => network.cut([node], [network.app]),
    ],
    [
      'what a node sends to its peers is lost',
      (network, node, others) => {
        for (const peer of others) network.drop(peer, { from: [node] });
      },
    ],
    [
      'what its peers send to a node is lost',
      (network, node, others) => network.drop(node, { from: others }),
    ],
    ['no link between two nodes', (network, node, [other]) => network.cut([node], [other])],
    ['two nodes cut off from the app', (network, _, others) => network.cut(others, [network.app])],
  ])('keeps its promises with %s for 30 s', async (fault, split) => {
    const fail = async () => {
      split(trials.cluster.network, ...anyNode());
      await sleep(faultMs);
    };
    await trials.survive(fault, fail);
  });

  it('keeps its promises with all nodes apart for 30 s', () =>
    trials.survive('all nodes apart', () => apart(trials.cluster.network)));
});
