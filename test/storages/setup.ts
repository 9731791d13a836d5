// A table that every create fails on: one line of the log says what to do, and that mends it. `setup.test.ts` runs this, and
// for MariaDB `test/programs/cluster/mariadb.cluster.ts`.
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import { withColumns } from '../support/tables.js';
import { context } from './context.js';

interface Options {
  readonly table?: string;
  readonly names?: { readonly [member: string]: string };
  readonly columns?: { readonly [column: string]: () => string };
  readonly namespace?: { readonly [column: string]: () => string };
  readonly refuse?: () => string;
}

export interface Setup {
  readonly schemaOf: (options: Options) => string;
  open(options?: Options): PlantStorage & {
    readonly find: NonNullable<PlantStorage['find']>;
    readonly check: () => Promise<unknown>;
    readonly createTable: () => Promise<void>;
  };
  run(sql: string): unknown;
}

/** The message of an error, and those of its causes. */
function told(error: unknown): string {
  const { message, cause } = error as Error;
  if (!cause) return message;
  return (cause as Error).message === message ? told(cause) : `${message}: ${told(cause)}`;
}

/** What `onError` was told. */
const messages = new Set<string>();

/** Creates plants through the handler, at once, and returns the codes. */
async function post(storage: PlantStorage, count: number, options = {}) {
  const onError = (error: unknown) => void messages.add(told(error));
  const handle = createPlantStore(storage, acceptTokens('secret'), { onError, ...options });
  const bodies = Array.from({ length: count }, (_, id) => JSON.stringify({ id, name: `plant ${id}` }));
  const responses = await Promise.all(bodies.map((body) => handle(createRequest('secret', body))));
  return new Set(responses.map(({ status, error }) => error ?? status));
}

const [created, rejected] = [new Set([200]), new Set([50004])];

export function itSaysWhatToDo({ schemaOf, open, run }: Setup): void {
  beforeEach(async () => {
    messages.clear();
    await run('DROP TABLE IF EXISTS plants');
  });

  /** The statement that the only message says to run, to its end. Databases quote names differently: `fault` has no quotes. */
  function remedy(fault: string): string {
    const unquoted = [...messages].map((message) => message.replaceAll(/["`]/g, ''));
    expect(unquoted).toEqual([expect.stringContaining(fault)]);
    // The words of the database follow.
    const [, sql] = /\brun: (.*?)(?:: |$)/i.exec([...messages][0]!) ?? [];
    expect(sql, 'a statement, and not one to be completed').toMatch(/^[A-Z]+ (?!.*\.\.\.)/);
    return sql!;
  }

  /** Expects that the only message says what to do, and prints no SQL that would not mend it. */
  function expectNoStatement(fault: string): void {
    const unquoted = [...messages].map((message) => message.replaceAll(/["`]/g, ''));
    expect(unquoted).toEqual([expect.stringContaining(fault)]);
    expect(unquoted[0]).not.toMatch(/\brun: /i);
  }

  it('schemaOf is one whole statement, which another can follow in a migration', () => {
    expect(schemaOf({})).toMatch(/^CREATE TABLE [^;]+;$/);
  });

  it('tells of a missing table by one message, with the remedy once, until it is there', async () => {
    const storage = open();
    for (let round = 0; round < 3; round++) expect(await post(storage, 50)).toEqual(rejected);
    const [message, ...others] = messages;
    expect(message!.split('storage.createTable()')).toHaveLength(2);
    expect(message).not.toMatch(/rolled back/);
    expect(others).toEqual([]);
    await run(remedy('it does not exist'));
    expect(await post(storage, 50)).toEqual(created);
  });

  it('tells of it to a replay, too, which finds no table', async () => {
    const { find } = open();
    expect(await post({ create: async () => 'taken', find }, 1, { acceptReplays: true })).toEqual(rejected);
    expect([...messages]).toEqual([expect.stringContaining('createTable()')]);
  });

  const names = { id: 'plant_no', name: 'title', tag: 'kind' };
  it.each<[string, Options, string]>([
    ['of another name', { table: 'herbs' }, `or run: ${schemaOf({ table: 'herbs' })}`],
    ['whose columns have other names', { names }, `or run: ${schemaOf({ names })}`],
    [
      'with columns of the app',
      { columns: { who: () => 'me' } },
      'write a migration from what schemaOf returns',
    ],
  ])(
    'tells how to create a table %s that was dropped, and asks refuse of no plant',
    async (_, options, how) => {
      await run(schemaOf(options));
      const refuse = vi.fn(() => 'no');
      const storage = open({ ...options, refuse });
      expect(await post(storage, 2)).toEqual(created);
      await run(`DROP TABLE ${options.table ?? 'plants'}`);
      expect(await post(storage, 2)).toEqual(rejected);
      expect([...messages]).toEqual([expect.stringContaining(how)]);
      await expect(storage.find(1n, context)).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/cannot use the table .* it does not exist/) },
      });
      expect(refuse).not.toHaveBeenCalled();
      if (options.columns) return expectNoStatement('it does not exist');
      await run(remedy('it does not exist'));
      expect(await post(storage, 2)).toEqual(created);
    },
  );

  it.each<[string, string, Options]>([
    ['name', "the option names: { name: '...' }", {}],
    ['tag', "the option names: { tag: '...' }", {}],
    ['kind', "the option names: { tag: '...' }", { names }],
    ['who', 'the option columns', {}],
  ])(
    'tells of the column %s that was dropped with what adds it, once, and that it may have been renamed, and asks refuse of no plant',
    async (column, how, more) => {
      const options = { columns: { who: () => 'me' }, ...more };
      await run(schemaOf(options));
      const refuse = vi.fn(() => 'no');
      const storage = open({ ...options, refuse });
      expect(await post(storage, 64)).toEqual(created);
      await run(`ALTER TABLE plants DROP COLUMN ${column}`);
      expect(await post(storage, 64)).toEqual(rejected);
      expect(refuse).not.toHaveBeenCalled();
      await run(
        remedy(
          `it has no column ${column}. If it was renamed, give its new name by ${how}. If not, run: ALTER TABLE`,
        ),
      );
      expect(await post(storage, 65)).toEqual(new Set([40003, 200]));
    },
  );

  it('tells of a column that was renamed by what names it, and finds the plants that are there', async () => {
    await run(schemaOf({}));
    expect(await post(open(), 1)).toEqual(created);
    await run('ALTER TABLE plants RENAME COLUMN name TO title');
    await expect(open().check()).rejects.toThrow(
      "If it was renamed, give its new name by the option names: { name: '...' }",
    );
    const storage = open({ names: { name: 'title' } });
    await storage.check();
    expect(await storage.find(0n, context)).toEqual({ id: 0n, name: 'plant 0' });
  });

  it('tells of the id that a table of the app has not', async () => {
    await run('CREATE TABLE plants (x INT)');
    // IF NOT EXISTS would pass over it.
    await expect(open().createTable()).rejects.toThrow('it has no column id. If it was renamed, ');
    expect(await post(open(), 1)).toEqual(rejected);
    expectNoStatement("by the option names: { id: '...' }. If not, set the option table");
  });

  it('tells of a missing column of the namespace, whose key the app has to migrate', async () => {
    await run(schemaOf({}));
    expect(await post(open({ namespace: { tenant: () => 'garden' } }), 1)).toEqual(rejected);
    expectNoStatement(
      'it has no column tenant. If it was renamed, give its new name by the option namespace. If not, write a migration',
    );
  });

  it.each<[string, Options]>([
    ['tag', {}],
    ['kind', { names: { tag: 'kind' } }],
  ])('tells of a column %s that is generated, and adds none beside it', async (column, options) => {
    const generated = "VARCHAR(9) GENERATED ALWAYS AS ('shrub') STORED";
    await run(withColumns(schemaOf(options), { [column]: generated }));
    await expect(open(options).check()).rejects.toThrow(/generated/i);
    expect(await post(open(options), 2)).toEqual(rejected);
    expectNoStatement('make it');
  });

  it('tells of a missing unique index with what creates it, once', async () => {
    await run(withColumns(schemaOf({}), { id: 'BIGINT' }));
    const storage = open();
    expect(await post(storage, 64)).toEqual(rejected);
    await run(remedy('it needs a unique index of exactly (id)'));
    expect(await post(storage, 64)).toEqual(created);
  });

  describe('check', () => {
    it('finds nothing wrong with a table that can be used, and stores nothing', async () => {
      await run(schemaOf({}));
      const storage = open();
      await storage.check();
      expect(await storage.find(0n, context)).toBeUndefined();
      expect(await post(storage, 2)).toEqual(created);
      await storage.check();
    });

    it('tells of a missing table, and then of a missing index', async () => {
      // Not by `toThrow`, which accepts a rejection without an error.
      await expect(open().check()).rejects.toMatchObject({
        name: 'SetupError',
        message: expect.stringMatching(/^plant-store cannot use the table .*: it does not exist\./),
      });
      await run(withColumns(schemaOf({}), { id: 'BIGINT' }));
      await expect(open().check()).rejects.toThrow(/it needs a unique index of exactly \(.id.\)\. Run: /);
    });

    it('tells of a column that it does not find, also after it found it', async () => {
      await run(schemaOf({}));
      const storage = open();
      await storage.check();
      await run('ALTER TABLE plants DROP COLUMN tag');
      await expect(storage.check()).rejects.toThrow(/it has no column tag\. .* run: ALTER TABLE/);
    });
  });

  it('tells of a column without a value and without a default, before and after the first create', async () => {
    await run(withColumns(schemaOf({ columns: { note: () => '' } }), { note: 'INT NOT NULL' }));
    const why = 'takes no null and has no default';
    await expect(open().check()).rejects.toThrow(why);
    const refuse = vi.fn(() => 'no');
    const storage = open({ refuse });
    expect(await post(storage, 64)).toEqual(rejected);
    expect(await post(storage, 1)).toEqual(rejected);
    expect([...messages]).toEqual([
      expect.stringContaining(`${why}: every create leaves it empty. Give it a default`),
    ]);
    expect(refuse).not.toHaveBeenCalled();
    await open({ columns: { note: () => '7' } }).check();
  });

  it('tells of a missing unique index of a namespace with what creates it, whatever other indexes there are', async () => {
    const namespace = { tenant: () => 'garden', bed: () => 'south' };
    await run(schemaOf({ namespace }).replace(/, PRIMARY KEY \([^)]*\)/, ''));
    await run('ALTER TABLE plants ADD COLUMN n INT');
    await run('CREATE UNIQUE INDEX shorter ON plants (tenant, n)');
    await run('CREATE UNIQUE INDEX other ON plants (tenant, bed, n)');
    const storage = open({ namespace });
    expect(await post(storage, 64)).toEqual(rejected);
    await run(remedy('it needs a unique index of exactly (tenant, bed, id)'));
    expect(await post(storage, 64)).toEqual(created);
  });
}
