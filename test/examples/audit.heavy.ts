// `plant-store audit` through the proxies of production.
import { createServer } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { expect, it, onTestFinished } from 'vitest';
import { audit } from '../../examples/server/audit.js';
import { proxies } from '../hosts/company/proxies.js';
import { describeUnless } from '../support/obstacle.js';
import { listen } from '../support/sockets.js';

for (const { name, obstacle, quirks = {}, start } of proxies) {
  describeUnless(obstacle, name, () => {
    it('lets an audit pass, but for the paths that it normalises', async () => {
      const app = await listen(
        createServer(toNode(createPlantStore(memoryStorage(), acceptTokens('secret')))),
      );
      const proxy = await start(app.port);
      onTestFinished(async () => {
        await proxy.close();
        await app.close();
      });
      const failed: string[] = [];
      const options = {
        url: `http://127.0.0.1:${proxy.port}`,
        token: 'secret',
        forbiddenToken: undefined,
        ids: '123456789',
      };
      await audit(options, (text) => failed.push(...(/^FAIL {2}([\w-]+)/.exec(text)?.slice(1) ?? [])));
      expect(failed).toEqual(Object.keys(quirks));
    });
  });
}
