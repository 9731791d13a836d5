/**
 * A Worker that stores plants in D1 and in a Durable Object, each by a storage that is made once for its binding. `cases-workers.ts` sends
 * it requests: the first part of a path is where, the rest what to do there.
 */
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { type SqliteHandle, type SqliteStorage, sqliteStorage } from 'plant-store/sqlite';

interface ObjectStorage {
  readonly sql: { exec(sql: string): { toArray(): unknown[] } };
  get(key: string): Promise<unknown>;
  transaction(task: (transaction: { rollback(): void }) => Promise<void>): Promise<void>;
  setAlarm(at: number): Promise<void>;
}

interface Env {
  readonly DB: { prepare(sql: string): { all(): Promise<{ results: unknown[] }> } };
  readonly GARDEN: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
  readonly TOKEN: string;
}

const context = {} as never;

/** What a place can be asked. */
function placeOn(handle: SqliteHandle, run: (sql: string) => unknown, token: string) {
  const storage: SqliteStorage = sqliteStorage(handle);
  const tenants = sqliteStorage<string>(handle, {
    table: 'tenants',
    namespace: { tenant: ({ caller }) => caller },
  });
  const plants = toFetch(createPlantStore(storage, acceptTokens(token)));
  const ofTenant = toFetch(createPlantStore(tenants, (token) => token));
  const told = (id: number) =>
    storage.create({ id: BigInt(id), name: 'Rosa' }, context).catch(({ name }: Error) => name);
  return {
    storage,
    told,
    async fetch(request: Request): Promise<Response | undefined> {
      const [, , what] = new URL(request.url).pathname.split('/');
      // The core knows one path.
      const moved = new Request(new URL('/plants', request.url), request);
      if (what === 'plants') return plants(moved);
      if (what === 'tenants') return ofTenant(moved);
      if (what === 'check')
        return Response.json(
          await storage.check().then(
            () => ({}),
            ({ message }: Error) => ({ message }),
          ),
        );
      if (what === 'sql') return Response.json((await run(await request.text())) ?? null);
      // Many creates of one request.
      if (what === 'creates') {
        const ids = (await request.json()) as number[];
        return Response.json(await Promise.all(ids.map(told)));
      }
      // How an error of SQLite comes out of the handle.
      if (what === 'message') {
        const sql = await request.text();
        try {
          await run(sql);
          return Response.json({});
        } catch (error) {
          const { message } = error as Error;
          return Response.json({ message });
        }
      }
      return undefined;
    },
  };
}

/** A Durable Object with plants, whose alarm and whose own transactions write beside the creates. */
export class Garden {
  readonly #place: ReturnType<typeof placeOn>;
  #alarms = 0;
  #onAlarm = () => {};

  constructor(
    readonly ctx: { readonly storage: ObjectStorage },
    { TOKEN }: Env,
  ) {
    this.#place = placeOn(ctx.storage as never, (sql) => ctx.storage.sql.exec(sql).toArray(), TOKEN);
  }

  async fetch(request: Request): Promise<Response> {
    const [, , what] = new URL(request.url).pathname.split('/');
    if (what === 'rollback')
      return Response.json(await this.#besideTransaction((await request.json()) as number[]));
    if (what === 'alarm') return Response.json(await this.#besideAlarm((await request.json()) as number[]));
    return (await this.#place.fetch(request)) ?? new Response(null, { status: 404 });
  }

  /** Creates plants before, beside and after a transaction of the object, which it rolls back. */
  async #besideTransaction(ids: readonly number[]): Promise<string[]> {
    const { sql } = this.ctx.storage;
    const outcomes: Promise<string>[] = [];
    const create = () => outcomes.push(this.#place.told(ids[outcomes.length]!));
    create();
    const transaction = this.ctx.storage.transaction(async (transaction) => {
      sql.exec("INSERT INTO plants (id, name) VALUES (-1, 'Acer')");
      // Not by a timer: one that waits for the end of the transaction would keep all others from their time.
      for (let i = 0; i < 20; i++) await this.ctx.storage.get('nothing');
      transaction.rollback();
    });
    create();
    await transaction;
    create();
    return Promise.all(outcomes);
  }

  /** Creates plants until an alarm of the object has written. */
  async #besideAlarm(ids: readonly number[]): Promise<{ outcomes: string[]; alarms: number }> {
    const outcomes: string[] = [];
    const alarm = new Promise<void>((resolve) => {
      this.#onAlarm = resolve;
    });
    await this.ctx.storage.setAlarm(Date.now());
    for (const id of ids) outcomes.push(await this.#place.told(id));
    await alarm;
    return { outcomes, alarms: this.#alarms };
  }

  async alarm(): Promise<void> {
    this.#alarms++;
    this.ctx.storage.sql.exec("INSERT INTO plants (id, name) VALUES (-2, 'Ilex')");
    this.#onAlarm();
  }
}

/** Made once for its binding. */
let onD1: { readonly DB: unknown; readonly place: ReturnType<typeof placeOn> } | undefined;

export default {
  async fetch(request: Request, { DB, GARDEN, TOKEN }: Env): Promise<Response> {
    const [, where] = new URL(request.url).pathname.split('/');
    if (where === 'object') return GARDEN.getByName('one').fetch(request);
    if (onD1?.DB !== DB) {
      const run = async (sql: string) => (await DB.prepare(sql).all()).results;
      onD1 = { DB, place: placeOn(DB as never, run, TOKEN) };
    }
    return (await onD1.place.fetch(request)) ?? new Response(null, { status: 404 });
  },
};
