// Columns of the app: the same table of hazards for each database. `columns.sized.test.ts` runs it, and for MariaDB
// `test/programs/cluster/mariadb.cluster.ts`.
import { createPlantStore, type RolledBack } from 'plant-store';
import type { ColumnValue } from 'plant-store/sqlite';
import { storageCases } from 'plant-store/testing';
import { describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import { plantOf, withColumns } from '../support/tables.js';
import type { TableDatabase } from './columns.js';
import { contextOf } from './context.js';

/** Who creates a plant, and what the columns of the app get. */
export interface Caller {
  readonly tenant?: unknown;
  readonly further?: unknown;
}

interface Options {
  readonly table?: string;
  readonly namespace?: { readonly [column: string]: (context: { readonly caller: Caller }) => ColumnValue };
  readonly columns?: {
    readonly [column: string]: (context: { readonly caller: Caller }) => ColumnValue | null;
  };
  readonly onBatch?: () => void;
  readonly timeoutMs?: number;
}

const tenants = { namespace: { tenant: ({ caller }: { caller: Caller }) => caller.tenant as string } };

export function itStoresOwnColumns(
  database: () => TableDatabase,
  takesName: (name: string) => boolean = () => true,
): void {
  const quoted = (name: string) => {
    const { mark } = database();
    return mark + name.replaceAll(mark, mark + mark) + mark;
  };

  /** A storage with columns of the app, on the table of its `schemaOf`, or on one that differs from it. */
  async function open(options: Options = tenants, change = (schema: string) => schema, columns = options) {
    const { newTable, run, rows, schemaOf, storage } = database();
    const table = newTable();
    await run(change(schemaOf({ table, ...columns })));
    const [tenant] = Object.keys(options.namespace!) as [string];
    return {
      table,
      ...storage({ table, ...options }),
      rows: (columns: string) =>
        rows(`SELECT ${columns} FROM ${quoted(table)} ORDER BY id, ${quoted(tenant)}`),
      peekAs: (tenant: string) => async (id: bigint) => {
        const [row] = await rows(`SELECT * FROM ${quoted(table)} WHERE tenant = '${tenant}' AND id = ${id}`);
        return row && plantOf({ ...row, id });
      },
    };
  }

  describe('the cases of plant-store/testing, for two tenants', () => {
    const openCase = async () => {
      const { create, find, peekAs } = await open();
      const callerOf = (tenant: string) => ({ caller: { tenant }, peek: peekAs(tenant) });
      return { storage: { create, find }, ...callerOf('garden'), other: callerOf('park') };
    };
    for (const { id, name, run } of storageCases(openCase)) it(`${id}: ${name}`, run);
  });

  it('stores the creates of all tenants in one batch, each id once a tenant', async () => {
    const onBatch = vi.fn();
    // A first call that takes long on a busy machine makes the next ones smaller, by its part of the timeout.
    const { create, rows } = await open({ ...tenants, onBatch, timeoutMs: 120_000 });
    await create({ id: 1n, name: 'first' }, contextOf({ tenant: 'garden' }));
    onBatch.mockClear();
    const outcomes = await Promise.all(
      ['garden', 'park', 'wood', 'park'].flatMap((tenant) =>
        [1n, 2n, 2n].map((id) => create({ id, name: tenant }, contextOf({ tenant }))),
      ),
    );
    const all = ['created', 'created', 'taken'];
    expect(outcomes).toEqual(['taken', 'created', 'taken', ...all, ...all, 'taken', 'taken', 'taken']);
    expect(onBatch).toHaveBeenCalledTimes(1);
    expect(onBatch.mock.calls[0]![0]).toMatchObject({ end: 'settled' });
    expect(await rows('name')).toHaveLength(6);
  });

  const invalid: [string, unknown][] = [
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['an invalid date', new Date(Number.NaN)],
    ['a lone surrogate', 'secret \ud800'],
    ['U+0000', 'secret \0'],
    ['an object', { secret: 1 }],
    ['an array', ['secret']],
    ['bytes', new Uint8Array([1])],
    ['a symbol', Symbol('secret')],
    ['a function', () => 'secret'],
    ['a promise that rejects', Promise.reject(new Error('secret'))],
  ];
  for (const [, value] of invalid) Promise.resolve(value).catch(() => {});

  const furtherOptions = {
    ...tenants,
    columns: { further: ({ caller }: { caller: Caller }) => caller.further as string | null },
  };

  it.each([
    ...invalid.flatMap(([what, value]) => [
      ['tenant', what, value] as const,
      ['further', what, value] as const,
    ]),
    ['tenant', 'null', null] as const,
    ['tenant', 'a text that ends with a space', 'garden secret '] as const,
  ])(
    'a value of %s that is %s fails its own create alone with 50004, by an error that names the column',
    async (column, _, value) => {
      const { create, find, rows } = await open(furtherOptions);
      const good = { tenant: 'garden', further: null };
      const bad = { ...good, [column]: value };
      const callers = [bad, good, { ...good, further: 'x' }];
      const [failed, ...stored] = await Promise.allSettled(
        callers.map((caller, id) => create({ id: BigInt(id), name: 'Rosa' }, contextOf(caller))),
      );
      expect(stored).toMatchObject([{ value: 'created' }, { value: 'created' }]);
      const reason = (failed as PromiseRejectedResult).reason as RolledBack;
      expect(reason).toMatchObject({ name: 'RolledBack', reason: 'rejected' });
      const why = new RegExp(
        `column ${column} must return a string.*${column === 'further' ? ' or null' : ''}`,
      );
      expect(String(reason.cause)).toMatch(why);
      expect(String(reason)).not.toContain('secret');
      if (column === 'tenant') await expect(find(0n, contextOf(bad))).rejects.toThrow(why);
      expect(await rows('further')).toEqual([{ further: null }, { further: 'x' }]);
    },
  );

  it('calls each function once a create; one that throws fails its create with 50004, and no other', async () => {
    const tenant = vi.fn(({ caller }: { caller: Caller }) => caller.tenant as string);
    const further = vi.fn(({ caller }: { caller: Caller }) => {
      if (caller.further === 'thorn') throw new Error('a thorn');
      return 'x';
    });
    const { create, find } = await open({ namespace: { tenant }, columns: { further } });
    const verify = (token: string) => ({ tenant: 'garden', further: token });
    const onError = vi.fn();
    const handle = createPlantStore({ create, find }, verify, { onError, acceptReplays: true });
    const post = async (id: number, token: string) => {
      const response = await handle(createRequest(token, JSON.stringify({ id, name: 'Rosa' })));
      return response.error ?? response.status;
    };
    const tokens = ['a', 'b', 'thorn', 'c', 'thorn', 'd'];
    expect(await Promise.all(tokens.map((token, i) => post(i, token)))).toEqual([
      200, 200, 50004, 200, 50004, 200,
    ]);
    expect([tenant.mock.calls.length, further.mock.calls.length]).toEqual([6, 6]);
    expect(onError.mock.calls.map(([error]) => error.cause.message)).toEqual(['a thorn', 'a thorn']);
    // A replay finds the plant of its own tenant, by the values of its create.
    expect(await post(0, 'a')).toBe(200);
    expect([tenant.mock.calls.length, further.mock.calls.length]).toEqual([7, 7]);
  });

  it('takes values that are one to the database only for one: one create wins, and the others are taken', async () => {
    const [type, ...alike] = database().alike;
    for (const order of [alike, [...alike].reverse()]) {
      const { create, find, rows } = await open(tenants, (schema) =>
        withColumns(schema, { tenant: `${type} NOT NULL` }),
      );
      const plants = Array.from({ length: 40 }, (_, i) => ({
        id: BigInt(i >> 1),
        name: `plant ${i}`,
        tenant: order[i % 2]!,
      }));
      const createAll = () =>
        Promise.all(plants.map(({ tenant, ...plant }) => create(plant, contextOf({ tenant }))));
      const outcomes = await createAll();
      const created = plants.filter((_, i) => outcomes[i] === 'created');
      expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(20);
      expect(created.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i)));
      expect(await rows('name')).toEqual(created.map(({ name }) => ({ name })));
      expect(new Set(await createAll())).toEqual(new Set(['taken']));
      for (const tenant of order) {
        expect(await find(3n, contextOf({ tenant }))).toMatchObject({ name: created[3]!.name });
      }
    }
  });

  it('takes each create of a script that uses one context for all', async () => {
    const { create, rows } = await open();
    const caller: { tenant: string } = { tenant: '' };
    const context = contextOf(caller);
    const outcomes = ['garden', 'park', 'garden'].map((tenant) => {
      caller.tenant = tenant;
      return create({ id: 1n, name: tenant }, context);
    });
    expect(await Promise.all(outcomes)).toEqual(['created', 'created', 'taken']);
    expect(await rows('name')).toEqual([{ name: 'garden' }, { name: 'park' }]);
  });

  const words = ['value', 'n', 'place', 'key', 'new', 'plant', 'v0', 'select'];
  const names = [...words, 'a "b" `c`', 'a.b', "it's", '?', '$1', ':x'];
  it.each(names.filter(takesName))(
    'accepts the column name %j, in the namespace and in columns',
    async (name) => {
      const getter = ({ caller }: { caller: Caller }) => caller.tenant as string;
      for (const further of ['further', `x${name}`]) {
        const { create, find, rows } = await open({
          namespace: { [name]: getter },
          columns: { [further]: ({ caller }) => caller.further as string },
        });
        const plants = [1n, 2n].flatMap((id) => ['garden', 'park'].map((tenant) => ({ id, tenant })));
        const createAll = () =>
          Promise.all(
            plants.map(({ id, tenant }) =>
              create({ id, name: 'Rosa' }, contextOf({ tenant, further: tenant })),
            ),
          );
        expect(await createAll()).toEqual(Array(4).fill('created'));
        expect(await createAll()).toEqual(Array(4).fill('taken'));
        expect(await find(2n, contextOf({ tenant: 'park' }))).toMatchObject({ name: 'Rosa' });
        const [row] = await rows(`${quoted(name)} AS tenant, ${quoted(further)} AS further`);
        expect(row).toEqual({ tenant: 'garden', further: 'garden' });
      }
    },
  );

  it('takes a column name of the greatest length', async () => {
    const tenant = 't'.repeat(database().maxName);
    const { create } = await open({ namespace: { [tenant]: () => 'garden' } });
    expect(await create({ id: 1n, name: 'Rosa' }, contextOf({}))).toBe('created');
  });

  it.each(['id', 'tenant, id, name'])(
    'fails every create with 50004 if only (%s) is unique, and stores nothing',
    async (key) => {
      // MySQL can index a part of a long text only.
      const possible = database().mark === '`' ? key.replace('name', 'name(9)') : key;
      const { create, rows } = await open(tenants, (schema) =>
        schema.replace(/PRIMARY KEY \(.+?\)/, `PRIMARY KEY (${possible})`),
      );
      const creates = [1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, contextOf({ tenant: 'garden' })));
      for (const failed of await Promise.allSettled(creates)) {
        expect(failed).toMatchObject({ reason: { name: 'RolledBack', reason: 'unusable' } });
      }
      expect(await rows('name')).toEqual([]);
    },
  );

  it('createTable rejects and says to use a migration, and schemaOf returns what that can start from', async () => {
    const { newTable, run, schemaOf, storage } = database();
    const table = newTable();
    const options = {
      table,
      namespace: { tenant: () => 'garden', region: () => 'north' },
      columns: { who: () => 'me' },
    };
    const { create, find, createTable } = storage(options);
    await expect(createTable()).rejects.toThrow(/migration/);
    await expect(create({ id: 1n, name: 'Rosa' }, contextOf({}))).rejects.toThrow();
    await run(schemaOf(options));
    expect(await create({ id: 1n, name: 'Rosa' }, contextOf({}))).toBe('created');
    expect(await create({ id: 1n, name: 'Rosa' }, contextOf({}))).toBe('taken');
    expect(await find(1n, contextOf({}))).toMatchObject({ name: 'Rosa' });
    expect(await database().rows(`SELECT who FROM ${quoted(table)}`)).toEqual([{ who: 'me' }]);
    // The columns of the key take no NULL.
    await expect(run(`INSERT INTO ${quoted(table)} (id, name) VALUES (2, 'Rosa')`)).rejects.toThrow();
    // As before for a table without columns of the app.
    const plain = newTable();
    await run(schemaOf({ table: plain }));
    expect(await storage({ table: plain }).create({ id: 1n, name: 'Rosa' }, contextOf({}))).toBe('created');
    await storage({ table: plain }).createTable();
  });

  it('stores the values of a lone create as those of a batch, and gives other columns their defaults', async () => {
    const { create, rows } = await open(
      furtherOptions,
      (schema) => withColumns(schema, { greeting: "VARCHAR(9) DEFAULT ('hello')" }),
      { ...tenants, columns: { ...furtherOptions.columns, greeting: () => '' } },
    );
    const day = new Date('2026-03-29T01:30:00.250Z');
    const values = [day, 'text', "it's \u{1f331}", '007', '1e3', '', null, 7, 0.5, 2n ** 63n - 1n];
    const createFrom = (first: number) =>
      values.map(
        (value, i) => () =>
          create({ id: BigInt(first + i), name: '007' }, contextOf({ tenant: '1e3', further: value })),
      );
    for (const lone of createFrom(0)) expect(await lone()).toBe('created');
    const batch = createFrom(values.length).map((create) => create());
    expect(new Set(await Promise.all(batch))).toEqual(new Set(['created']));
    const stored = await rows('tenant, name, tag, further, greeting');
    expect(stored).toHaveLength(2 * values.length);
    expect(stored.slice(0, values.length)).toEqual(stored.slice(values.length));
    expect(stored[0]).toMatchObject({
      further: expect.stringMatching(/^2026-03-29.\d\d:30:00/),
      greeting: 'hello',
    });
  });
}
