import { createServer } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { onTestFinished } from 'vitest';
import { finder, freeId } from '../../examples/server/free-id.js';
import { evaluationPage, type PageOptions } from '../../examples/server/page/page.js';
import { listen } from '../support/sockets.js';

/** Serves the page for as long as the test runs, as the demo server does, and returns its address. */
export async function servePage(options: Partial<PageOptions> = {}): Promise<string> {
  const storage = memoryStorage();
  const page = evaluationPage({
    token: 'for-evaluation-only',
    place: 'in memory, lost on exit',
    freeId: () => freeId(finder(storage), 2n),
    ...options,
  });
  const mount = toNode(createPlantStore(storage, acceptTokens('for-evaluation-only')));
  const { url, close } = await listen(
    createServer((request, response) => page(request, response, () => mount(request, response))),
  );
  onTestFinished(close);
  return url;
}
