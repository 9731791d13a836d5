// No plant is changed: for each database a table of columns and values, with the exact outcome in each cell. Each row runs
// one by one and in a batch.
import type { PlantStorage } from 'plant-store';
import type { ColumnValue } from 'plant-store/sqlite';
import { expect, it } from 'vitest';
import { withColumns } from '../support/tables.js';
import { contextOf as contextOfCaller } from './context.js';

/** What the column is of, its type, and each value with its outcome. */
export type ColumnCase = readonly [
  of: 'id' | 'name' | 'tag' | 'tenant' | 'further',
  type: string,
  cells: readonly Cell[] | 'unusable',
];

type Cell = readonly [value: ColumnValue | null, outcome: Outcome];

/** `=`: stored as it came. `rejected`: not stored, nor is anything else. `as`: stored as the database spells this value. */
type Outcome = '=' | 'rejected' | { readonly as: string | null };

interface Caller {
  readonly value: ColumnValue | null;
}

type Storage<Of = Caller> = PlantStorage<Of> & { readonly find: NonNullable<PlantStorage<Of>['find']> };

/** What the tables of cases, here and in `own-columns.ts`, need of a database. */
export interface TableDatabase {
  readonly mark: '"' | '`';
  /** A type of a column, and two values that are one in it: `A` and `a`, or capitals of a UUID. */
  readonly alike: readonly [type: string, string, string];
  /** The longest name of a column. */
  readonly maxName: number;
  readonly schemaOf: (options: object) => string;
  /** The column as text, in SQL. */
  asText(column: string): string;
  /** A name of no table. */
  newTable(): string;
  run(sql: string): Promise<unknown>;
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  storage(options: object): Storage<unknown> & {
    readonly createTable: () => Promise<void>;
    /** Not of memory. */
    readonly check?: (trial?: object) => Promise<void>;
  };
}

const contextOf = (value: ColumnValue | null) => contextOfCaller({ value });

/** @param ways how the plants of a row are created: in a batch (`true`), one by one (`false`) */
export function itStoresExactly(
  database: () => TableDatabase,
  cases: readonly ColumnCase[],
  ways: readonly boolean[] = [false, true],
): void {
  for (const [of, type, cells] of cases)
    for (const isBatch of ways) {
      const title = cells === 'unusable' ? 'is unusable' : 'stores each value as it came, or rejects it';
      it(`a column of ${of} of the type ${type} ${title}, ${isBatch ? 'in a batch' : 'one by one'}`, () =>
        run(database(), of, type, cells, isBatch));
    }
}

async function run(
  database: TableDatabase,
  of: ColumnCase[0],
  type: string,
  cells: ColumnCase[2],
  isBatch: boolean,
) {
  const { mark, schemaOf, newTable, asText, rows } = database;
  const table = newTable();
  const quoted = mark + table + mark;
  const isKey = of === 'tenant';
  const get = ({ caller }: { readonly caller: Caller }) => caller.value as ColumnValue;
  const options = {
    table,
    ...(isKey && { namespace: { tenant: get } }),
    ...(of === 'further' && { columns: { further: get } }),
  };
  const more = { id: ' PRIMARY KEY', name: ' NOT NULL', tag: '', tenant: ' NOT NULL', further: '' };
  await database.run(withColumns(schemaOf(options), { [of]: type + more[of] }));
  const storage = database.storage(options);
  const why = new RegExp(`cannot use the table .*: its column ${of} is .*, which does not hold every ${of}`);
  const values = cells === 'unusable' ? ['1', '2'] : cells.map(([value]) => value);
  const plantOf = (value: ColumnValue | null, i: number) => ({
    id: of === 'id' ? BigInt(value as bigint) : isKey ? 1n : BigInt(i),
    name: of === 'name' ? String(value) : `plant ${i}`,
    ...(of === 'tag' && value !== null && { tag: String(value) }),
  });
  const check = (i: number) => {
    const trial = { plant: plantOf(values[i]!, i), context: contextOf(values[i]!) };
    return storage.check?.(trial).then(String, ({ message }: Error) => message);
  };
  if (cells === 'unusable') expect((await check(0)) ?? 'none').toMatch(storage.check ? why : 'none');
  // A create of each plant. A handle without transactions shows no plant that is rejected.
  else
    for (const [i, [, outcome]] of cells.entries())
      if (outcome !== 'rejected') expect(['undefined', undefined]).toContain(await check(i));
      else
        expect(await check(i)).toMatch(
          /^undefined$|^plant-store cannot use the table .* rejects the plant|^the functions of your columns fail/,
        );
  const creates = values.map(
    (value, i) => () => storage.create(plantOf(value, i), contextOf(value)) as Promise<unknown>,
  );
  const settle = async () => {
    if (isBatch) return Promise.allSettled(creates.map((create) => create()));
    const settled: PromiseSettledResult<unknown>[] = [];
    for (const create of creates) settled.push(...(await Promise.allSettled([create()])));
    return settled;
  };
  const first = await settle();
  const stored = await rows(`SELECT ${asText(of)} AS value, name FROM ${quoted}`);
  if (cells === 'unusable') {
    for (const outcome of first) {
      expect(outcome).toMatchObject({ reason: { name: 'RolledBack', cause: { message: why } } });
    }
    await expect(storage.find(1n, contextOf('1'))).rejects.toMatchObject({ cause: { message: why } });
    return expect(stored).toEqual([]);
  }
  const kept = cells.flatMap(([value, outcome], i) => {
    if (outcome === 'rejected') return [];
    const own = value instanceof Date ? value.toISOString() : value === null ? null : String(value);
    return [{ value: outcome === '=' ? own : outcome.as, name: plantOf(value, i).name }];
  });
  expect(first.map(({ status }) => status)).toEqual(
    cells.map(([, outcome]) => (outcome === 'rejected' ? 'rejected' : 'fulfilled')),
  );
  for (const outcome of first)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ name: 'RolledBack' });
    else expect(outcome.value).toBe('created');
  const byName = (a: { name?: unknown }, b: { name?: unknown }) => (String(a.name) < String(b.name) ? -1 : 1);
  expect(
    stored.map(({ value, name }) => ({ value: value === null ? null : String(value), name })).sort(byName),
  ).toEqual([...kept].sort(byName));
  // Every plant is its own tenant's: no other finds it, or is told that its id is taken.
  for (const [i, [value, outcome]] of cells.entries()) {
    const plant = plantOf(value, i);
    const finding = storage.find(plant.id, contextOf(value));
    // Only a value of the namespace, which `find` sends too, may be rejected.
    const found = await (isKey ? finding.catch(() => undefined) : finding);
    expect(found?.name, `found for ${String(value)}`).toBe(outcome === 'rejected' ? undefined : plant.name);
  }
  const taken = first.map(({ status }) => (status === 'fulfilled' ? { value: 'taken' } : { status }));
  expect(await settle()).toMatchObject(taken);
}

const cells =
  (outcome: Outcome) =>
  (...values: readonly (ColumnValue | null)[]) =>
    values.map((value): Cell => [value, outcome]);
const exact = cells('=');
const rejected = cells('rejected');

/** A row for each of the types. */
const each = (of: ColumnCase[0], types: readonly string[], cells: ColumnCase[2]) =>
  types.map((type): ColumnCase => [of, type, cells]);

const cut = [...exact('abcde', 'abcd ', '\u{1F339}bcde', ''), ...rejected('abcde  ', 'abcdefgh')];
const padded = [...exact('abcde'), ...rejected('ab ', 'abcdefgh')];
const large = exact(1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n);
const tenants = [
  ...exact('7', 9n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n),
  ...rejected('07', '1abc', ' 8', 1.5, true, 2n ** 63n),
];

/** The domains and the enum that the cases need. */
export const postgresTypes = `CREATE DOMAIN short AS varchar(5); CREATE DOMAIN shorter AS short CHECK (value <> 'weed');
CREATE DOMAIN padded AS char(5); CREATE DOMAIN positive AS bigint CHECK (value > 0); CREATE DOMAIN bits AS bit(3);
CREATE DOMAIN needed AS text NOT NULL; CREATE DOMAIN rounded AS numeric(10, -2); CREATE TYPE mood AS ENUM ('shy', 'bold')`;

const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff';
const longTenants = ['garden-10', 'garden-11'];

export const postgresCases: readonly ColumnCase[] = [
  ...each('id', ['bigint', 'numeric', 'numeric(20)', 'text', 'varchar(30)', 'positive'], large),
  ['id', 'numeric(25, 3)', large.map(([id]) => [id, { as: `${id}.000` }])],
  ...each('id', ['smallint', 'integer'], [...exact(7n), ...rejected(2n ** 32n + 7n)]),
  ...each(
    'id',
    ['short', 'shorter', 'padded', 'varchar(5)', 'char(5)'],
    [...exact(12_345n), ...rejected(123_456n, 1_234_567n)],
  ),
  ...each('id', ['real', 'double precision', 'numeric(10, -2)', 'rounded', 'uuid'], 'unusable'),
  ...each('id', ['jsonb', 'date', 'money'], 'unusable'),
  ...(['name', 'tag'] as const).flatMap((of) => [
    ...each(of, ['varchar(5)', 'short'], cut),
    ...each(of, ['shorter'], [...cut, ...rejected('weed')]),
    ...each(of, ['padded', 'char(20)', 'integer', 'text[]'], 'unusable'),
    ...each(of, ['mood'], [...exact('shy'), ...rejected('tall')]),
  ]),
  ['tenant', 'text', [...exact('gar', ' gar', ...longTenants), ...rejected('gar ')]],
  ...each(
    'tenant',
    ['varchar(8)', 'short', 'shorter', 'char(8)', 'padded'],
    [...exact('gar', ' gar'), ...rejected('gar ', ...longTenants)],
  ),
  ['tenant', 'bigint', tenants],
  ['tenant', 'uuid', [...exact(uuid), ...rejected('no uuid')]],
  ...each('tenant', ['date', 'timestamptz', 'numeric(10, -2)', 'double precision'], 'unusable'),
  ...each('tenant', ['jsonb', 'boolean', 'bits'], 'unusable'),
  ...each('further', ['varchar(5)', 'short', 'shorter'], [...cut, ...exact(null)]),
  ...each('further', ['char(5)', 'padded'], padded),
  ['further', 'bits', [...exact('101'), ...rejected('10101', '1')]],
  ['further', 'needed', [...exact('x'), ...rejected(null)]],
  ['further', 'uuid', [[uuid.toUpperCase(), { as: uuid }], ...rejected('no uuid')]],
  ['further', 'bigint', [...large, ...exact(7, '7'), ...rejected(2n ** 63n, 1.5, true)]],
  [
    'further',
    'numeric(30, 4)',
    [[2n ** 70n, { as: '1180591620717411303424.0000' }], ...exact('12345678901234567890.1234')],
  ],
  ['further', 'double precision', exact(0.1, 1e21, -5, 5e-324, 1.7976931348623157e308)],
  [
    'further',
    'timestamptz',
    [
      [new Date('2026-03-29T01:30:00.250Z'), { as: '2026-03-29 01:30:00.25+00' }],
      ...exact('2026-03-29 01:30:00.123456+00'),
    ],
  ],
  ['further', 'positive', [...exact(5n), ...rejected(-5n)]],
  ['further', 'boolean', exact(true, false)],
  ['further', 'text', exact('{"a",\\}', '', 'NULL', ' x ', '\u{1F339}', 7, true)],
  // Each value is the JSON value of its own type: a string is no JSON text.
  [
    'further',
    'jsonb',
    [
      ['{"a": 1}', { as: '"{\\"a\\": 1}"' }],
      ['7', { as: '"7"' }],
      ...exact(7, 2n ** 60n, null),
      [new Date(0), { as: '"1970-01-01T00:00:00.000Z"' }],
    ],
  ],
  ['further', 'text[]', [...exact('{a,b}'), ...rejected('no array')]],
];

const utf8 = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const [longest, spaces] = ['x'.repeat(255), 'x'.repeat(250)];
const [mood, moods] = ["ENUM('shy', 'bold')", "SET('shy', 'bold')"];
const quoting = "('it''s', '\\\\', '\"', 'a,b')";

export const mysqlCases: readonly ColumnCase[] = [
  ...each('id', ['BIGINT', 'DECIMAL(20)', `VARCHAR(30) ${utf8}`], large),
  ['id', 'INT UNSIGNED', [...exact(7n), ...rejected(-7n, 2n ** 32n + 7n)]],
  // 0 means the next number there.
  ['id', 'BIGINT AUTO_INCREMENT', exact(0n, 1n, 7n)],
  ['id', 'BIGINT(4) ZEROFILL', [0n, 7n].map((id) => [id, { as: `000${id}` }])],
  ...each('id', ['DOUBLE', 'DECIMAL(10, 2)', 'CHAR(10)'], 'unusable'),
  ...(['name', 'tag'] as const).flatMap((of) => [
    ...each(of, [`VARCHAR(5) ${utf8}`], cut),
    ...each(
      of,
      [`TINYTEXT ${utf8}`],
      [...exact(longest, `${spaces}     `), ...rejected(`${spaces}      `, `${longest}x`)],
    ),
    ...each(of, ['CHAR(10)', 'LONGBLOB', "ENUM('1', 'a')"], 'unusable'),
  ]),
  [
    'tenant',
    `VARCHAR(8) ${utf8}`,
    [...exact('gar', 'Gar', 'g\u00e1r', ''), ...rejected('gar ', 'garden-10')],
  ],
  ...each('tenant', ['BIGINT', 'DECIMAL(30)'], tenants),
  ['tenant', 'INT', [...exact('1'), ...rejected('1abc', '')]],
  ...each('tenant', [mood, moods, 'DOUBLE', 'DATETIME', 'DECIMAL(10, 2)', 'BINARY(4)'], 'unusable'),
  ['further', `VARCHAR(5) ${utf8}`, [...cut, ...exact(null)]],
  ['further', 'CHAR(5)', padded],
  ['further', mood, [...exact('shy'), ...rejected('1', 2, 'SHY', 'tall')]],
  ['further', moods, [...exact('shy,bold', ''), ...rejected('3', 'tall', true)]],
  // The driver sends a boolean as 1 or 0: the places of a word, and of none.
  ['further', "ENUM('false', 'true')", [...exact('true', 'false'), ...rejected(true, false)]],
  [
    'further',
    "ENUM('0', '1')",
    [
      [true, { as: '1' }],
      [false, { as: '0' }],
    ],
  ],
  ['further', `ENUM${quoting}`, [...exact("it's", '\\', '"', 'a,b'), ...rejected("it''s", 'its', '')]],
  ['further', 'INT', [...exact(7), ...rejected('7abc'), [true, { as: '1' }]]],
  ['further', 'BIGINT', large],
  ['further', 'DOUBLE', exact(0.1, -5)],
];

export const sqliteCases: readonly ColumnCase[] = [
  ...each(
    'id',
    ['INTEGER', 'BIGINT', 'TEXT', 'NUMERIC', 'DECIMAL(20)', 'VARCHAR(5)', 'BLOB', ''],
    [...large, ...exact(-(2n ** 63n))],
  ),
  ...each('id', ['REAL', 'DOUBLE'], 'unusable'),
  ...(['name', 'tag'] as const).flatMap((of) => [
    ...each(of, ['VARCHAR(5)'], exact('007', 'abcdefgh ', '1e3')),
    ...each(of, ['INTEGER', 'STRING', 'NUMERIC'], 'unusable'),
  ]),
  [
    'tenant',
    'TEXT',
    [...exact('007', 7, 0.1, 0.30000000000000004, 0.3, 1e20, true, 'gar', ''), ...rejected('gar ')],
  ],
  ['tenant', '', exact('007', 7, '1e3')],
  ['tenant', 'INTEGER', tenants],
  ...each('tenant', ['REAL', 'NUMERIC', 'DATE', 'UUID'], 'unusable'),
  ['further', 'INTEGER', large],
  ['further', 'REAL', [...exact(0.1), [1e21, { as: '1.0e+21' }], [-5, { as: '-5.0' }]]],
];

/** Texts that look alike to some collation, cast or driver: each is a namespace of its own, or none. */
const apart: readonly ColumnValue[] = [
  ...['garden', 'Garden', 'GARDEN', 'garde\u0144', 'g\u00e1rden', 'ga\u0301rden', 'garden\u200b'],
  ...['g\u0430rden', '\uff47arden', ' garden', '\tgarden', 'garden\t', 'garden\n', 'garden\r\n'],
  ...['gar den', 'gar  den', 'garden\u00a0', '\u00e6', 'ae', '\u00df', 'ss', 'SS', '\u0130', 'i', 'I'],
  ...['\u0131', '\ufb01', 'fi', '\u212a', 'k', 'K', '\u{1f331}', '\u{1f332}', '\u0161cme', 'acme'],
  ...['\ufffd', '?', '\ufffe', '\uffff', '', '0', '00', '-0', '+0', '0.0', '1', '01', '1.0', '1e0'],
  ...['1abc', '0x1', '\u0661', '\uff11', 1e21, '1e21', 0.1, '0.10', 0.30000000000000004, 0.3],
  ...[2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, 'true', 'TRUE', 'null', 'NULL', '\\N', "'", "''", '"', '`'],
  ...['\\', '\\\\', '%', '_', '2026-03-29', '2026-03-29T01:30:00Z'],
  ...[new Date('2026-03-29T01:30:00.250Z'), new Date('2026-03-29T01:30:00.251Z')],
];

/** No namespace: a trailing space is none to MySQL. */
const texts = ['garden ', 'garden  ', ' ', '  ', '\u{1f331} ', 'a\0', '\ud800'];
const refused: readonly unknown[] = [...texts, null, undefined, Number.NaN, {}, []];

export type Namespace = Readonly<Record<'tenant', (context: { readonly caller: Caller }) => ColumnValue>>;

/** A new table of this database, and a storage on it. */
export const namespaceIn = (database: () => TableDatabase) => async (namespace: Namespace) => {
  const { newTable, run, schemaOf, storage } = database();
  const options = { table: newTable(), namespace };
  await run(schemaOf(options));
  return storage(options);
};

/** @param open a storage whose namespace is what this function returns, on the table of its `schemaOf` */
export function itKeepsNamespacesApart(open: (namespace: Namespace) => Promise<Storage>): void {
  it.each([false, true])(
    `keeps ${apart.length} namespaces apart, and rejects ${refused.length} that are none (in a batch: %s)`,
    async (isBatch) => {
      const storage = await open({ tenant: ({ caller }) => caller.value as ColumnValue });
      const values = [...apart, ...refused] as ColumnValue[];
      const settled: PromiseSettledResult<unknown>[] = [];
      const create = (value: ColumnValue) =>
        storage.create({ id: 1n, name: `of ${values.indexOf(value)}` }, contextOf(value));
      if (isBatch) settled.push(...(await Promise.allSettled(values.map(create))));
      else for (const value of values) settled.push(...(await Promise.allSettled([create(value)])));
      for (const [i, value] of values.entries()) {
        const isOwn = i < apart.length;
        expect
          .soft(settled[i], `create for ${String(value)}`)
          .toMatchObject(
            isOwn ? { value: 'created' } : { reason: { name: 'RolledBack', reason: 'rejected' } },
          );
        const found = await storage.find(1n, contextOf(value)).catch((error: Error) => error);
        expect
          .soft(found, `find for ${String(value)}`)
          .toMatchObject({ name: isOwn ? `of ${i}` : 'RolledBack' });
      }
      // What has the same text is the same namespace.
      expect(
        await Promise.all(
          [1, 1n].map((value) => storage.create({ id: 1n, name: 'again' }, contextOf(value))),
        ),
      ).toEqual(['taken', 'taken']);
    },
  );
}
