/** Storages at module level, as an app on Workers would have them: its requests share them. */
import { groupCommit, RolledBack } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';
import { driverTo, post, serve } from './fetch-app.js';

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

const batches = groupCommit(async (plants) => {
  const ids = plants.map(({ id }) => String(id));
  const context = current?.getStore();
  const response = await post(env.CALLS, { ids, context } satisfies Sent);
  if (current?.getStore() !== context) throw new Error('the context has changed');
  if (!response.ok) throw new RolledBack('conflict', new Error('refused'));
  return plants.map(() => 'created');
});

const respond = serve([
  ['/groupCommit', batches, 30_000],
  ['/hasty', batches, 100],
  ['/postgresStorage', postgresStorage(driverTo(() => env.DATABASE)), 30_000],
]);

export default {
  fetch(request: Request, bindings: typeof env): Promise<Response> {
    env = bindings;
    const task = () => respond(request);
    return current ? current.run(new URL(request.url).searchParams.get('id'), task) : task();
  },
};
