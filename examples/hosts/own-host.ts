// A host of your own, held to the whole contract: `node --import tsx examples/hosts/own-host.ts`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { hostCases } from 'plant-store/testing';

async function open() {
  // Your server, without plants. It may be written in any language: only its URL counts.
  const server = createServer(toNode(createPlantStore(memoryStorage(), acceptTokens('secret'))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, token: 'secret', close: () => void server.close() };
}

for (const { id, name, run } of hostCases(open, { alone: true, strict: true })) test(`${id}: ${name}`, run);
