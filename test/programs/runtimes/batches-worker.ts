/** Storages at module level, as an app on Workers would have them: its requests share them. */
import { acceptTokens, createPlantStore, groupCommit, type PlantStorage, RolledBack } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { postgresStorage } from 'plant-store/postgres';

type Als = { run<T>(id: unknown, task: () => T): T; getStore(): unknown };

/** Without `nodejs_compat` there is none. */
const { AsyncLocalStorage } = (
  globalThis as { process?: { getBuiltinModule?(name: string): { AsyncLocalStorage?: new () => Als } } }
).process?.getBuiltinModule?.('node:async_hooks') ?? { AsyncLocalStorage: undefined };
const current = AsyncLocalStorage && new AsyncLocalStorage();

/** What a call of `createMany` sends. */
export interface Sent {
  readonly ids: readonly string[];
  /** The id of the create in whose AsyncLocalStorage it runs. */
  readonly context?: unknown;
}

let env = { DATABASE: '', CALLS: '' };

const post = (url: string, body: unknown) => fetch(url, { method: 'POST', body: JSON.stringify(body) });

const batches = groupCommit(async (plants) => {
  const ids = plants.map(({ id }) => String(id));
  const context = current?.getStore();
  const response = await post(env.CALLS, { ids, context } satisfies Sent);
  if (current?.getStore() !== context) throw new Error('the context has changed');
  if (!response.ok) throw new RolledBack('together', new Error('refused'));
  return plants.map(() => 'created');
});
/** A driver that reaches its database by `fetch`. */
const driver = {
  async query(text: string, values: unknown[] = []) {
    const response = await post(env.DATABASE, { text, values });
    const { rows, error } = (await response.json()) as { rows: object[]; error?: object };
    if (error) throw Object.assign(new Error('database'), error);
    return { rows };
  },
};

const storages: [path: string, storage: PlantStorage, timeoutMs: number][] = [
  ['/groupCommit', batches, 30_000],
  ['/hasty', batches, 100],
  ['/postgresStorage', postgresStorage(driver), 30_000],
];
const handlers = storages.map(([basePath, storage, timeoutMs]) =>
  toFetch(createPlantStore(storage, acceptTokens('secret'), { basePath, timeoutMs })),
);

async function respond(request: Request): Promise<Response> {
  for (const handle of handlers) {
    const response = await handle(request.clone());
    if (response.status !== 404) return response;
  }
  return new Response(null, { status: 404 });
}

export default {
  fetch(request: Request, bindings: typeof env): Promise<Response> {
    env = bindings;
    const task = () => respond(request);
    return current ? current.run(new URL(request.url).searchParams.get('id'), task) : task();
  },
};
