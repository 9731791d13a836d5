/** The operation in process, no host around it. */
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { type BaselinePlant, create, refuseHead } from './baseline.js';
import type { Contenders, Work } from './contender.js';
import { path, plantJson, token } from './load.js';

export const handles: Contenders = {
  'by-hand': () => {
    const plants = new Map<number, BaselinePlant>();
    return working(plants, async ({ method, url, headers, body }) => {
      const refusal = refuseHead(method, url, headers as Record<string, string>);
      return refusal ?? create(plants, body as string);
    });
  },
  handle: (timeoutMs) => {
    const plants = new Map();
    const options = { timeoutMs: Number(timeoutMs) };
    return working(plants, createPlantStore(memoryStorage(plants), acceptTokens(token), options));
  },
};

const headers = {
  host: 'localhost',
  connection: 'keep-alive',
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: '*/*',
  'user-agent': 'bench',
};

function working(plants: Map<unknown, unknown>, handle: PlantHandler): Work {
  // Flat, as a decoded body is; a template leaves a tree that JSON.parse would flatten under the clock.
  const bodies = Array.from({ length: 1000 }, () => Buffer.from(plantJson()).toString());
  return {
    operations: bodies.length,
    async run() {
      plants.clear();
      for (const body of bodies) {
        const { status } = await handle({ method: 'POST', url: path, headers, body });
        if (status !== 200) throw new Error(`answered ${status}`);
      }
    },
  };
}
