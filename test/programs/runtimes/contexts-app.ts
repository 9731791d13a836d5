/** Batches of an app whose requests have an AsyncLocalStorage each: counts the calls that run in that of no create of their batch. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { acceptTokens, createPlantStore, groupCommit, type PlantStorage, RolledBack } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { postgresStorage } from 'plant-store/postgres';

declare const Bun:
  | { serve(options: { port: number; fetch: typeof fetchPlants }): { port: number } }
  | undefined;
declare const Deno: {
  serve(
    options: { port: number; onListen: (address: { port: number }) => void },
    handler: typeof fetchPlants,
  ): void;
};

const current = new AsyncLocalStorage<string>();
const counts = { checks: 0, strays: 0 };
const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Creates that were in a call: a part of a rejected batch may be without the one that opened it. */
const called = new Set<string>();

function check(ids: readonly unknown[]): void {
  counts.checks++;
  const id = current.getStore();
  for (const one of ids) called.add(String(one));
  if (id === undefined || !called.has(id)) counts.strays++;
}

let calls = 0;
const batches = groupCommit(async (plants) => {
  const ids = plants.map(({ id }) => id);
  const kind = calls++ % 7;
  for (let i = 0; i < 4; i++) {
    check(ids);
    await turn();
  }
  if (kind === 1) await new Promise((resolve) => setTimeout(resolve, 5));
  check(ids);
  if (kind === 2) throw new RolledBack('together', new Error('deadlock'));
  if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('apart', new Error('a CHECK'));
  return plants.map(() => 'created');
});

/** A driver that speaks to its database by `fetch`. */
const driver = {
  async query(text: string, values: unknown[] = []) {
    if (text.startsWith('INSERT')) check(values.flat());
    const response = await fetch(process.argv.at(-1)!, {
      method: 'POST',
      body: JSON.stringify({ text, values }),
    });
    const { rows, error } = (await response.json()) as { rows: object[]; error?: object };
    if (text.startsWith('INSERT')) check(values.flat());
    if (error) throw Object.assign(new Error('database'), error);
    return { rows };
  },
};
const refuse = (_error: unknown, { id }: { id: bigint }) => {
  check([id]);
  return 'no';
};

const storages: Record<string, PlantStorage> = {
  groupCommit: batches,
  postgresStorage: postgresStorage(driver, { refuse }),
};
const handlers = Object.entries(storages).map(([name, storage]) =>
  toFetch(createPlantStore(storage, acceptTokens('secret'), { basePath: `/${name}`, onError() {} })),
);

async function respond(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === '/counts') return Response.json(counts);
  for (const handle of handlers) {
    const response = await handle(request.clone());
    if (response.status !== 404) return response;
  }
  return new Response(null, { status: 404 });
}

function fetchPlants(request: Request): Promise<Response> {
  return current.run(request.headers.get('id') ?? '', () => respond(request));
}

if (typeof Bun === 'object') console.log({ port: Bun.serve({ port: 0, fetch: fetchPlants }).port });
else Deno.serve({ port: 0, onListen: ({ port }) => console.log({ port }) }, fetchPlants);
