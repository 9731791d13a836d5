/** The hosts behind the proxies of production: the whole contract, and uploads that are refused. */
import { describe } from 'vitest';
import { everyHost } from '../../ecosystem/hosts.js';
import { describeUnless } from '../../support/obstacle.js';
import { named } from '../../support/titled.js';
import { hostNamed } from '../hosts.js';
import { contractOn } from '../suite.js';
import { eachIsAnswered, turnsAreAnswered } from '../uploads/refused-uploads.js';
import { behind, proxies } from './proxies.js';

for (const proxy of proxies) {
  describeUnless(proxy.obstacle, proxy.name, () => {
    if (!proxy.isHttp2)
      describe('the contract table', () => contractOn(behind(proxy, hostNamed('node:http'))));

    const hosts = everyHost.filter(proxy.hosts);
    describe.each(named(hosts.map((host) => behind(proxy, host))))('%s', (_, host) => {
      eachIsAnswered(host, 2, 'keep-alive', { isProxied: true });
      // More than the buffers of both kernels' sockets and of the proxy. Two clients: eight would send 22 GB in all.
      eachIsAnswered(host, 12, 'keep-alive', { clients: 2, isProxied: true });
      turnsAreAnswered(host);
    });
  });
}
