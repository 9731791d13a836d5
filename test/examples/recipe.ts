/** Programs of `examples/` that run in the process of the test: what their tests share. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NewPlant, PlantStorage } from 'plant-store';
import { schema } from 'plant-store/postgres';
import { storageCases } from 'plant-store/testing';
import { afterAll, beforeAll, expect, it, type Mock, vi } from 'vitest';
import { cutAt, itSurvivesTheNetwork } from '../storages/faults.js';
import { ownServer } from '../storages/postgres-server.js';
import { Doorway } from '../support/doorway.js';
import { createPlant, expectExactPlants } from '../support/plants.js';

/** What a program with a storage exports. */
export interface StorageExample {
  readonly storage: PlantStorage;
  readonly server: Server;
  /** The app's own reading, by the library that the example is about. */
  readonly find?: (id: bigint) => Promise<NewPlant | undefined>;
}

/** Where a program of this process listens. */
export async function exampleUrl(loading: { server: Server } | Promise<{ server: Server }>): Promise<string> {
  const { server } = await loading;
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Lets programs listen on free ports, and returns what they print. */
export function runExamplesHere(env: Record<string, string> = {}): { log: Mock; error: Mock; warn: Mock } {
  const printed = { log: vi.fn(), error: vi.fn(), warn: vi.fn() };
  beforeAll(() => {
    Object.assign(process.env, { PORT: '0', ...env });
    for (const name of ['log', 'error', 'warn'] as const)
      vi.spyOn(console, name).mockImplementation(printed[name]);
  });
  afterAll(() => vi.restoreAllMocks());
  return printed;
}

export const rosa = (id: number): string => `{"id":${id},"name":"Rosa canina"}`;

/** Expects a host's program to create plants with exact ids under a path, and to leave other paths to its app. */
export async function expectPlantsUnder(mount: string): Promise<void> {
  await expectExactPlants(mount);
  const wrong = await createPlant(mount, '{"id":2,"name":"Ilex"}', 'wrong');
  expect(wrong).toMatchObject({ status: 401, body: { error: 40102 } });
  expect(await createPlant(mount, '{')).toMatchObject({ status: 400, body: { error: 40001 } });
  expect((await fetch(`${mount}/trees`)).status).toBe(404);
}

/** A PostgreSQL server with the table, which programs find in `DATABASE_URL`. */
export function examplePostgres() {
  const own = ownServer();
  beforeAll(async () => {
    const doorway = await Doorway.before({ path: own.server.socket });
    process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:${doorway.port}/postgres`;
    await own.pool.query(schema);
    return () => doorway.close();
  });
  return Object.assign(own, { empty: () => own.pool.query('TRUNCATE plants') });
}

interface RecipeOptions {
  /** Reads past the program, and past the doorway. If absent, the program itself reads. */
  readonly peek?: (id: bigint) => Promise<NewPlant | undefined>;
  readonly mount?: string;
  /** What the program connects through. */
  readonly doorway?: () => Doorway;
}

/**
 * Declares that a program with a storage serves plants, and that its storage keeps every promise.
 *
 * @param load gives the program once `beforeAll` is over
 */
export function itKeepsThePromises(
  load: () => StorageExample,
  empty: () => Promise<unknown>,
  { peek, mount = '', doorway }: RecipeOptions = {},
): void {
  it('creates plants over HTTP, and refuses a wrong token', async () => {
    await empty();
    const url = await exampleUrl(load());
    await expectExactPlants(url + mount);
    expect(await createPlant(url + mount, '{"id":1,"name":"Ilex"}', 'wrong')).toMatchObject({
      status: 401,
      body: { error: 40102 },
    });
  });

  const open = async () => {
    const { storage, find } = load();
    await empty();
    const opened = { storage, caller: undefined, peek: (peek ?? find)! };
    if (!doorway) return opened;
    const { onAnswer } = doorway();
    return {
      ...opened,
      cut: cutAt(doorway, opened.peek),
      close() {
        doorway().onAnswer = onAnswer;
      },
    };
  };
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);
  if (doorway) itSurvivesTheNetwork(doorway, async () => ({ table: 'plants', ...(await open()) }));
}
