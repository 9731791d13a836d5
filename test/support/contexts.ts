/** What the batches of an app run in whose requests have an AsyncLocalStorage each. Imports no test runner, for any runtime. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { groupCommit, type NewPlant, RolledBack } from 'plant-store';
import { type PostgresPool, postgresStorage } from 'plant-store/postgres';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Storages that look at the context of each call: the id of the create in whose AsyncLocalStorage it runs. */
export function watchContexts() {
  const requests = new AsyncLocalStorage<string>();
  /** What was in a call before: a part of a batch may be without the create that opened it. */
  const called = new Set<unknown>();
  const strays: string[] = [];
  const seen = { checks: 0, calls: 0, strays };
  /** Notes a call with these creates that runs in the context of none of them, and of none that was in a call before. */
  const check = (ids: readonly unknown[]) => {
    seen.checks++;
    const id = requests.getStore();
    for (const one of ids) called.add(`${one}`);
    if (!id || !called.has(id)) strays.push(`${id} in ${ids}`);
  };

  const batches = groupCommit(async (plants) => {
    const ids = plants.map(({ id }) => id);
    const kind = seen.calls++ % 7;
    for (let i = 0; i < 4; i++) {
      check(ids);
      await wait(0);
    }
    if (kind === 1) await wait(2);
    check(ids);
    if (kind === 2) throw new RolledBack('conflict', new Error('deadlock'));
    if (plants.some(({ name }) => name === 'bad')) throw new RolledBack('rejected', new Error('a CHECK'));
    return plants.map(() => 'created' as const);
  });

  const refuse = (_error: unknown, { id }: NewPlant) => {
    check([id]);
    return 'no';
  };
  /** On a database in which no name is "bad". */
  const postgres = (driver: PostgresPool) => {
    const query: PostgresPool['query'] = async (text, values = []) => {
      const isInsert = text.startsWith('INSERT');
      const ids: string[] = isInsert ? (String(values[0]).match(/\d+/g) ?? []) : [];
      if (isInsert) check(ids);
      try {
        return await driver.query(text, values);
      } finally {
        if (isInsert) check(ids);
      }
    };
    return postgresStorage({ query }, { refuse });
  };
  return { requests, seen, batches, postgres };
}

/** Sends 100 creates by 40 clients, then ten lone ones. One in 40 has a name that the database rejects. */
export async function load(url: string, first: number): Promise<void> {
  let last = first;
  const send = async () => {
    const id = String(++last);
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json', id };
    const body = `{"id":${id},"name":"${last % 40 === 0 ? 'bad' : 'Rosa canina'}"}`;
    await (await fetch(`${url}/plants`, { method: 'POST', headers, body })).text();
  };
  const client = async () => {
    while (last < first + 100) await send();
  };
  await Promise.all(Array.from({ length: 40 }, client));
  for (let i = 0; i < 10; i++) await send();
}
