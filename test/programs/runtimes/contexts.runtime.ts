// On Bun and Deno, each batch runs in the AsyncLocalStorage of a create that is in it. For the hosts on Node, see batch-contexts.
import { schema } from 'plant-store/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { load } from '../../support/contexts.js';
import { urlOf } from '../../support/program.js';
import { openDatabase } from './fetch-database.js';
import { startOn, stop } from './runtimes.js';

it.each(['bun', 'deno'] as const)(
  'on %s, createMany, refuse and a query run in the AsyncLocalStorage of a create of their batch: 2 000 checks',
  async (runtime) => {
    const database = await openDatabase(`${schema}; ALTER TABLE plants ADD CHECK (name <> 'bad')`);
    onTestFinished(() => database.close());
    const program = await startOn(runtime, 'test/programs/runtimes/contexts-app.ts', database.url);
    onTestFinished(() => stop(program));
    const url = await urlOf(program);
    const seen = async () =>
      (await (await fetch(`${url}/seen`)).json()) as { checks: number; strays: string[] };
    for (let first = 1_000; (await seen()).checks < 2_000; first += 2_000) {
      await load(`${url}/groupCommit`, first);
      await load(`${url}/postgresStorage`, first + 1_000);
    }
    expect((await seen()).strays).toEqual([]);
  },
);
