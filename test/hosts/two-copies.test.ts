// An app may load this package twice: the handler as ESM, its adapter as CommonJS. A request is told by what it is, not by its
// class.
import { inspect } from 'node:util';
import { memoryStorage } from 'plant-store/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { rose } from '../support/plants.js';
import { named } from '../support/titled.js';
import { oneOfEachAdapter } from './hosts.js';

// The adapters above have loaded the first copy.
vi.resetModules();
const { createPlantStore } = await import('plant-store');
const overHttp1 = oneOfEachAdapter.filter(({ name }) => name !== 'node:http2');

test.each(named(overHttp1))(
  'the adapter of another copy on %s creates, and a log of the whole request shows no credentials',
  async (_, { start, basePath }) => {
    const logs: string[] = [];
    const verifyToken = (token: string) => {
      if (token === 'broken') throw new Error('an outage');
      return true;
    };
    const handle = createPlantStore(memoryStorage(), verifyToken, {
      basePath,
      onError: (_error, request) => {
        logs.push(JSON.stringify(request), JSON.stringify({ ...request }), inspect(request));
      },
    });
    const { url, close } = await start(handle);
    onTestFinished(close);
    const statusFor = async (token: string) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(`${url}/plants`, { method: 'POST', headers, body: rose })).status;
    };
    expect([await statusFor('secret'), await statusFor('broken')]).toEqual([200, 500]);
    expect(logs).toHaveLength(3);
    for (const log of logs) expect(log).not.toMatch(/broken|authorization/i);
  },
);
