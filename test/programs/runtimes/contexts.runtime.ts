// On Bun and Deno, each batch runs in the AsyncLocalStorage of a create that is in it. For the hosts on Node, see batch-contexts.
import { schema } from 'plant-store/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { urlOf } from '../../support/program.js';
import { openDatabase } from './fetch-database.js';
import { startOn, stop } from './runtimes.js';

it.each(['bun', 'deno'] as const)(
  'on %s, createMany, refuse and a query run in the AsyncLocalStorage of a create of their batch: 10 000 checks',
  async (runtime) => {
    const database = await openDatabase(`${schema}; ALTER TABLE plants ADD CHECK (name <> 'bad')`);
    onTestFinished(() => database.close());
    const program = await startOn(runtime, 'test/programs/runtimes/contexts-app.ts', database.url);
    onTestFinished(() => stop(program));
    const url = await urlOf(program);
    const counts = async () =>
      (await (await fetch(`${url}/counts`)).json()) as { checks: number; strays: number };
    let next = 0;
    const creator = async (storage: string) => {
      for (let i = 0; i < 20; i++) {
        const id = String(++next);
        const response = await fetch(`${url}/${storage}/plants`, {
          method: 'POST',
          headers: { authorization: `Bearer secret`, 'content-type': 'application/json', id },
          body: `{"id":${id},"name":"${next % 40 === 0 ? 'bad' : 'Rosa canina'}"}`,
        });
        await response.text();
      }
    };
    const storages = ['groupCommit', 'postgresStorage'];
    while ((await counts()).checks < 10_000) {
      for (const creators of [1, 40]) {
        await Promise.all(
          storages.flatMap((storage) => Array.from({ length: creators }, () => creator(storage))),
        );
      }
    }
    expect((await counts()).strays).toBe(0);
  },
);
