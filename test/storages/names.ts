// Columns that are not called as the members of a plant: the same hazards for each database. `names.test.ts` runs this, and for MariaDB
// `test/programs/cluster/mariadb.cluster.ts`.
import { acceptTokens, createPlantStore } from 'plant-store';
import { storageCases } from 'plant-store/testing';
import { describe, expect, it } from 'vitest';
import { createRequest } from '../support/plants.js';
import { plantOf, withColumns } from '../support/tables.js';
import type { TableDatabase } from './columns.js';
import { context, contextOf } from './context.js';

interface Names {
  readonly id?: string;
  readonly name?: string;
  readonly tag?: string;
}

const names = { id: 'plant_no', name: 'title', tag: 'kind' };

/** What the statements of a storage call something, and what a database does. */
const words = [
  'key',
  'value',
  'type',
  'id',
  'n',
  'place',
  'new',
  'plant',
  'v0',
  'order',
  'a "b" `c`',
  "it's",
];

export function itTakesOtherNames(
  database: () => TableDatabase,
  takesName: (name: string) => boolean = () => true,
): void {
  const quoted = (name: string) => {
    const { mark } = database();
    return mark + name.replaceAll(mark, mark + mark) + mark;
  };

  /** A storage on the table that it creates itself, and what reads that past it. */
  async function open(names: Names) {
    const { newTable, rows, storage } = database();
    const table = newTable();
    const opened = storage({ table, names });
    await opened.createTable();
    const { id, name, tag } = { id: 'id', name: 'name', tag: 'tag', ...names };
    const peek = async (of: bigint) => {
      const columns = `${quoted(name)} AS name, ${quoted(tag)} AS tag`;
      const [row] = await rows(`SELECT ${columns} FROM ${quoted(table)} WHERE ${quoted(id)} = ${of}`);
      return row && plantOf({ ...row, id: of });
    };
    return { storage: opened, caller: 'anyone', peek };
  }

  describe('the cases of plant-store/testing', () => {
    for (const { id, name, run } of storageCases(() => open(names))) it(`${id}: ${name}`, run);
  });

  it('a replay returns 200 for the same plant, and 40003 for another', async () => {
    const { storage } = await open(names);
    await storage.check!();
    const handle = createPlantStore(storage, acceptTokens('secret'), { acceptReplays: true });
    const post = async (body: string) => {
      const { status, error } = await handle(createRequest('secret', body));
      return error ?? status;
    };
    expect(await post('{"id":1,"name":"Rosa","tag":"shrub"}')).toBe(200);
    expect(await post('{"id":1,"name":"Rosa","tag":"shrub"}')).toBe(200);
    expect(await post('{"id":1,"name":"Rosa"}')).toBe(40003);
  });

  const rotated = { id: 'name', name: 'tag', tag: 'id' };
  const each = words
    .filter(takesName)
    .flatMap((word): Names[] => [
      ...(word === 'id' ? [] : [{ id: word }]),
      { id: 'no', name: word },
      { id: 'no', tag: word },
    ]);
  it.each([rotated, ...each])('%j', async (names) => {
    const { storage, peek } = await open(names);
    const plants = [
      { id: 1n, name: 'Rosa', tag: 'shrub' },
      { id: 2n, name: 'Ilex' },
      { id: 3n, name: 'Acer', tag: 'tree' },
    ];
    const createAll = () => Promise.all(plants.map((plant) => storage.create(plant, context)));
    expect(await storage.create(plants[0]!, context)).toBe('created');
    expect(await createAll()).toEqual(['taken', 'created', 'created']);
    expect(await storage.create(plants[0]!, context)).toBe('taken');
    for (const plant of plants) {
      expect(await storage.find(plant.id, context)).toEqual(plant);
      expect(await peek(plant.id)).toEqual(plant);
    }
    await storage.check!();
  });

  it('columns of the app can have the names of members', async () => {
    const { newTable, run, rows, schemaOf, storage } = database();
    const options = {
      table: newTable(),
      names,
      namespace: { id: ({ caller }: { caller: string }) => caller },
      columns: { name: () => 'me', tag: () => null },
    };
    await run(schemaOf(options));
    const { create, find, check } = storage(options);
    await check!({ context: { caller: 'garden' } });
    const createAll = () =>
      Promise.all(
        ['garden', 'park'].flatMap((caller) =>
          [1n, 2n].map((id) => create({ id, name: caller }, contextOf<unknown>(caller))),
        ),
      );
    expect(await createAll()).toEqual(Array(4).fill('created'));
    expect(await createAll()).toEqual(Array(4).fill('taken'));
    expect(await find(2n, contextOf('park'))).toEqual({ id: 2n, name: 'park' });
    const [row] = await rows(`SELECT title, kind, id, name, tag FROM ${quoted(options.table)} ORDER BY id`);
    expect(row).toEqual({ title: 'garden', kind: null, id: 'garden', name: 'me', tag: null });
  });

  it('a column whose type changes values is told by its own name', async () => {
    const { newTable, run, schemaOf, storage } = database();
    const options = { table: newTable(), names };
    await run(withColumns(schemaOf(options), { title: 'DATE NOT NULL' }));
    await expect(storage(options).check!()).rejects.toThrow(
      /its column title is date, which does not hold every name exactly: use .title. /i,
    );
  });
}
