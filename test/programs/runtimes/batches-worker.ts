/** Batches at module level, as an app on Workers would have them: the creates of one batch are of different requests. */
import {
  acceptTokens,
  createPlantStore,
  groupCommit,
  type NewPlant,
  type PlantStorage,
  RolledBack,
  type StorageContext,
} from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { postgresStorage } from 'plant-store/postgres';

type Als = { run<T>(id: unknown, task: () => T): T; getStore(): unknown };

/** Without `nodejs_compat` there is none. */
const { AsyncLocalStorage } = (
  globalThis as { process?: { getBuiltinModule?(name: string): { AsyncLocalStorage?: new () => Als } } }
).process?.getBuiltinModule?.('node:async_hooks') ?? { AsyncLocalStorage: undefined };
const current = AsyncLocalStorage && new AsyncLocalStorage();
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let databaseUrl = '';
let isDown = false;
let callMs = 5;
const sent: string[] = [];
/** How often `createMany` ran in the context of a create that was in its batch, and of another. */
const contexts = { own: 0, others: 0 };

function check(plants: readonly NewPlant[]): void {
  if (current) contexts[plants.some(({ id }) => String(id) === current.getStore()) ? 'own' : 'others']++;
}

const stored = new Set<bigint>();
const batches = groupCommit(
  async (plants: readonly NewPlant[], _contexts: readonly StorageContext<unknown>[]) => {
    check(plants);
    if (isDown) throw new RolledBack('together', new Error('refused'));
    sent.push(...plants.map(({ id }) => String(id)));
    await sleep(callMs);
    check(plants);
    return plants.map(({ id }) => {
      if (stored.has(id)) return 'taken';
      stored.add(id);
      return 'created';
    });
  },
  { timeoutMs: 3_000 },
);

/** A driver that speaks to its database by `fetch`. */
const driver = {
  async query(text: string, values: unknown[] = []) {
    const response = await fetch(databaseUrl, { method: 'POST', body: JSON.stringify({ text, values }) });
    const { rows, error } = (await response.json()) as { rows: object[]; error?: object };
    if (error) throw Object.assign(new Error('database'), error);
    return { rows };
  },
};

const storages: Record<string, PlantStorage> = {
  groupCommit: batches,
  postgresStorage: postgresStorage(driver),
};
const handlers = Object.entries(storages).map(([name, storage]) => {
  const basePath = `/${name}`;
  return toFetch(createPlantStore(storage, acceptTokens('secret'), { basePath }));
});

/** Begins a create and responds without it: its request has ended, and its code never runs again. */
async function leave(id: bigint, ms: number): Promise<Response> {
  const request = { method: 'POST', url: '/plants', headers: {} };
  const context = { request, caller: true, signal: new AbortController().signal };
  const create = (plantId: bigint) => batches.create({ id: plantId, name: 'left' }, context);
  // After a turn with two creates, the next is sent at the end of its turn, not at once.
  if (ms === 0) await Promise.all([create(-2n * id), create(-2n * id - 1n)]);
  create(id).catch(() => {});
  if (ms > 0) await sleep(ms);
  return new Response();
}

async function respond(request: Request, url: URL): Promise<Response> {
  const number = (name: string) => Number(url.searchParams.get(name));
  if (url.pathname === '/set') {
    isDown = number('down') > 0;
    callMs = number('callMs') || 5;
    return new Response();
  }
  if (url.pathname === '/sent') return Response.json({ sent, contexts });
  if (url.pathname === '/leave') return leave(BigInt(number('id')), number('ms'));
  for (const handle of handlers) {
    const response = await handle(request.clone());
    if (response.status !== 404) return response;
  }
  return new Response(null, { status: 404 });
}

export default {
  fetch(request: Request, env: { DATABASE: string }): Promise<Response> {
    databaseUrl = env.DATABASE;
    const url = new URL(request.url);
    const task = () => respond(request, url);
    return current ? current.run(url.searchParams.get('id'), task) : task();
  },
};
