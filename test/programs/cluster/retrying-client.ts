import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlantHandler } from 'plant-store';
import { createPlantClient, type PlantClient, PlantError } from 'plant-store/client';
import { toNode } from 'plant-store/node';
import type { Attempts } from './attempts.js';

/** Returns a client of a server of this handler, each of whose attempts is noted. */
export async function clientOf(
  handle: PlantHandler,
  acceptReplays: boolean,
  attempts: Attempts,
): Promise<PlantClient> {
  const server = createServer(toNode(handle)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  // It lives as long as the creators do.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return createPlantClient(`http://127.0.0.1:${port}`, {
    token: 'secret',
    acceptReplays,
    async fetch(url, { method, headers, body, signal }) {
      const plant = { ...plantIn(body), isRetried: true };
      const {
        status,
        headers: received,
        text,
      } = await attempts.send(plant, async () =>
        read(await fetch(url, { method, headers, body, signal } as RequestInit)),
      );
      return { status, headers: received, text: async () => text };
    },
  });
}

const read = async (response: Response) => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
});

/** Creates a plant, again whenever the client gives up, until it is stored or the id is another plant's. */
export async function createAtLast(client: PlantClient, id: string, name: string): Promise<void> {
  for (;;) {
    try {
      await client.create({ id: BigInt(id), name });
      return;
    } catch (error) {
      if (!(error instanceof PlantError)) throw error;
      if (error.problem === 'id_taken') return;
      await sleep(500);
    }
  }
}

/** The id with all its digits, and the name. */
function plantIn(body: string): { id: string; name: string } {
  const [, id, name] = /^\{"id":(-?\d+),"name":"([^"]+)"/.exec(body)!;
  return { id: id!, name: name! };
}
