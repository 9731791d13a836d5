// No plant is changed: for each database a table of columns and values, with the exact outcome in each cell. Each row runs
// one by one and in a batch.
import type { PlantStorage } from 'plant-store';
import type { ColumnValue } from 'plant-store/sqlite';
import { expect, it } from 'vitest';

/** What the column is of, its type, and each value with its outcome. */
export type ColumnCase = readonly [
  of: 'id' | 'name' | 'tag' | 'tenant' | 'further',
  type: string,
  cells: readonly (readonly [value: ColumnValue | null, outcome: Outcome])[] | 'unusable',
];

/** `=`: stored as it came. `rejected`: not stored, nor is anything else. `as`: stored as the database spells this value. */
type Outcome = '=' | 'rejected' | { readonly as: string | null };

interface Caller {
  readonly value: ColumnValue | null;
}

type Storage = PlantStorage<Caller> & { readonly find: NonNullable<PlantStorage<Caller>['find']> };

/** What the table of cases needs of a database. */
export interface ColumnDatabase {
  /** Types of an exact id and of a long text. */
  readonly types: { readonly id: string; readonly text: string };
  readonly mark: string;
  /** The column as text, in SQL. */
  asText(column: string): string;
  newTable(): string;
  run(sql: string): Promise<unknown>;
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  storage(options: {
    readonly table: string;
    readonly namespace?: Record<string, (context: { readonly caller: Caller }) => ColumnValue>;
    readonly columns?: Record<string, (context: { readonly caller: Caller }) => ColumnValue | null>;
  }): Storage;
}

const contextOf = (value: ColumnValue | null) => ({
  caller: { value },
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
});

export function itStoresExactly(database: () => ColumnDatabase, cases: readonly ColumnCase[]): void {
  for (const [of, type, cells] of cases)
    for (const isBatch of [false, true]) {
      const title = cells === 'unusable' ? 'is unusable' : 'stores each value as it came, or rejects it';
      it(`a column of ${of} of the type ${type} ${title}, ${isBatch ? 'in a batch' : 'one by one'}`, () =>
        run(database(), of, type, cells, isBatch));
    }
}

async function run(
  database: ColumnDatabase,
  of: ColumnCase[0],
  type: string,
  cells: ColumnCase[2],
  isBatch: boolean,
) {
  const { types, mark, newTable, asText, rows } = database;
  const table = newTable();
  const quoted = mark + table + mark;
  const isKey = of === 'tenant';
  const columns = {
    ...(isKey && { tenant: `${type} NOT NULL` }),
    id: of === 'id' ? type : types.id,
    name: `${of === 'name' ? type : types.text} NOT NULL`,
    tag: of === 'tag' ? type : types.text,
    ...(of === 'further' && { further: type }),
  };
  const definitions = Object.entries(columns).map((definition) => definition.join(' '));
  const key = isKey ? 'tenant, id' : 'id';
  await database.run(`CREATE TABLE ${quoted} (${definitions.join(', ')}, PRIMARY KEY (${key}))`);
  const get = ({ caller }: { readonly caller: Caller }) => caller.value as ColumnValue;
  const storage = database.storage({
    table,
    ...(isKey && { namespace: { tenant: get } }),
    ...(of === 'further' && { columns: { further: get } }),
  });
  const values = cells === 'unusable' ? ['1', '2'] : cells.map(([value]) => value);
  const plantOf = (value: ColumnValue | null, i: number) => ({
    id: of === 'id' ? BigInt(value as bigint) : isKey ? 1n : BigInt(i),
    name: of === 'name' ? String(value) : `plant ${i}`,
    ...(of === 'tag' && value !== null && { tag: String(value) }),
  });
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
    const why = new RegExp(
      `cannot use the table .*: its column ${of} is .*, which does not hold every ${of}`,
    );
    for (const outcome of first) {
      expect(outcome).toMatchObject({ reason: { name: 'RolledBack', cause: { message: why } } });
    }
    await expect(storage.find(1n, contextOf('1'))).rejects.toThrow(why);
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
    const found = await storage.find(plant.id, contextOf(value)).catch(() => undefined);
    expect(found?.name, `found for ${String(value)}`).toBe(outcome === 'rejected' ? undefined : plant.name);
  }
  const taken = first.map(({ status }) => (status === 'fulfilled' ? { value: 'taken' } : { status }));
  expect(await settle()).toMatchObject(taken);
}

const cut = [
  ['abcde', '='],
  ['abcde  ', 'rejected'],
  ['abcdefgh', 'rejected'],
  ['\u{1F339}bcde', '='],
  ['', '='],
] as const;
const tenants = [
  ['7', '='],
  ['07', 'rejected'],
  ['1abc', 'rejected'],
  [' 8', 'rejected'],
  [9n, '='],
  [1.5, 'rejected'],
  [true, 'rejected'],
  [2n ** 63n - 1n, '='],
  [2n ** 63n, 'rejected'],
] as const;

/** The domains and the enum that the cases need. */
export const postgresTypes = `CREATE DOMAIN short AS varchar(5); CREATE DOMAIN shorter AS short CHECK (value <> 'weed');
CREATE DOMAIN padded AS char(5); CREATE DOMAIN positive AS bigint CHECK (value > 0); CREATE DOMAIN bits AS bit(3);
CREATE DOMAIN needed AS text NOT NULL; CREATE DOMAIN rounded AS numeric(10, -2); CREATE TYPE mood AS ENUM ('shy', 'bold')`;

const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff';
const large = [1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n].map((id) => [id, '='] as const);

export const postgresCases: readonly ColumnCase[] = [
  ...['bigint', 'numeric', 'numeric(20)', 'text', 'varchar(30)', 'positive'].map(
    (type): ColumnCase => ['id', type, large],
  ),
  [
    'id',
    'numeric(25, 3)',
    [
      [2n ** 53n, { as: '9007199254740992.000' }],
      [2n ** 53n + 1n, { as: '9007199254740993.000' }],
    ],
  ],
  [
    'id',
    'integer',
    [
      [7n, '='],
      [2n ** 32n + 7n, 'rejected'],
    ],
  ],
  ...(['short', 'shorter', 'padded', 'varchar(5)', 'char(5)'] as const).map(
    (type): ColumnCase => [
      'id',
      type,
      [
        [12_345n, '='],
        [123_456n, 'rejected'],
        [1_234_567n, 'rejected'],
      ],
    ],
  ),
  ...['real', 'double precision', 'numeric(10, -2)', 'rounded', 'uuid', 'jsonb', 'date', 'money'].map(
    (type): ColumnCase => ['id', type, 'unusable'],
  ),
  ...(['name', 'tag'] as const).flatMap((of): ColumnCase[] => [
    [of, 'varchar(5)', cut],
    [of, 'short', cut],
    [of, 'shorter', [...cut, ['weed', 'rejected']]],
    [of, 'padded', 'unusable'],
    [of, 'char(20)', 'unusable'],
    [of, 'integer', 'unusable'],
    [of, 'text[]', 'unusable'],
    [
      of,
      'mood',
      [
        ['shy', '='],
        ['tall', 'rejected'],
      ],
    ],
  ]),
  ...['text', 'varchar(8)', 'short', 'shorter', 'char(8)', 'padded'].map(
    (type): ColumnCase => [
      'tenant',
      type,
      [
        ['gar', '='],
        ['gar ', 'rejected'],
        ['garden-10', type === 'text' ? '=' : 'rejected'],
        ['garden-11', type === 'text' ? '=' : 'rejected'],
        [' gar', '='],
      ],
    ],
  ),
  ['tenant', 'bigint', tenants],
  [
    'tenant',
    'uuid',
    [
      [uuid, '='],
      ['no uuid', 'rejected'],
    ],
  ],
  ...['date', 'timestamptz', 'numeric(10, -2)', 'double precision', 'jsonb', 'boolean', 'bits'].map(
    (type): ColumnCase => ['tenant', type, 'unusable'],
  ),
  ...(['varchar(5)', 'short', 'shorter'] as const).map(
    (type): ColumnCase => ['further', type, [...cut, [null, '=']]],
  ),
  ...(['char(5)', 'padded'] as const).map(
    (type): ColumnCase => [
      'further',
      type,
      [
        ['abcde', '='],
        ['ab ', 'rejected'],
        ['abcdefgh', 'rejected'],
      ],
    ],
  ),
  [
    'further',
    'bits',
    [
      ['101', '='],
      ['10101', 'rejected'],
      ['1', 'rejected'],
    ],
  ],
  [
    'further',
    'needed',
    [
      ['x', '='],
      [null, 'rejected'],
    ],
  ],
  [
    'further',
    'uuid',
    [
      [uuid.toUpperCase(), { as: uuid }],
      ['no uuid', 'rejected'],
    ],
  ],
  [
    'further',
    'bigint',
    [
      [2n ** 63n - 1n, '='],
      [7, '='],
      ['7', '='],
      [2n ** 63n, 'rejected'],
      [1.5, 'rejected'],
      [true, 'rejected'],
    ],
  ],
  [
    'further',
    'numeric(30, 4)',
    [
      [2n ** 70n, { as: '1180591620717411303424.0000' }],
      ['12345678901234567890.1234', '='],
    ],
  ],
  [
    'further',
    'double precision',
    [
      [0.1, '='],
      [5e-324, '='],
      [1.7976931348623157e308, '='],
    ],
  ],
  [
    'further',
    'timestamptz',
    [
      [new Date('2026-03-29T01:30:00.250Z'), { as: '2026-03-29 01:30:00.25+00' }],
      ['2026-03-29 01:30:00.123456+00', '='],
    ],
  ],
  [
    'further',
    'positive',
    [
      [5n, '='],
      [-5n, 'rejected'],
    ],
  ],
  [
    'further',
    'boolean',
    [
      [true, '='],
      [false, '='],
    ],
  ],
  [
    'further',
    'text',
    ['{"a",\\}', '', 'NULL', ' x ', '\u{1F339}', 7, true].map((value) => [value, '='] as const),
  ],
  // Each value is the JSON value of its own type: a string is no JSON text.
  [
    'further',
    'jsonb',
    [
      ['{"a": 1}', { as: '"{\\"a\\": 1}"' }],
      ['7', { as: '"7"' }],
      [7, '='],
      [2n ** 60n, '='],
      [null, '='],
      [new Date(0), { as: '"1970-01-01T00:00:00.000Z"' }],
    ],
  ],
  [
    'further',
    'text[]',
    [
      ['{a,b}', '='],
      ['no array', 'rejected'],
    ],
  ],
];

const utf8 = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

export const mysqlCases: readonly ColumnCase[] = [
  ...['BIGINT', 'DECIMAL(20)', `VARCHAR(30) ${utf8}`].map((type): ColumnCase => ['id', type, large]),
  [
    'id',
    'INT UNSIGNED',
    [
      [7n, '='],
      [-7n, 'rejected'],
      [2n ** 32n + 7n, 'rejected'],
    ],
  ],
  ...['DOUBLE', 'DECIMAL(10, 2)', 'CHAR(10)'].map((type): ColumnCase => ['id', type, 'unusable']),
  ...(['name', 'tag'] as const).flatMap((of): ColumnCase[] => [
    [of, `VARCHAR(5) ${utf8}`, cut],
    [
      of,
      `TINYTEXT ${utf8}`,
      [
        ['x'.repeat(255), '='],
        [`${'x'.repeat(250)}     `, '='],
        [`${'x'.repeat(250)}      `, 'rejected'],
        ['x'.repeat(256), 'rejected'],
      ],
    ],
    [of, 'CHAR(10)', 'unusable'],
    [of, 'LONGBLOB', 'unusable'],
    [of, "ENUM('1', 'a')", 'unusable'],
  ]),
  [
    'tenant',
    `VARCHAR(8) ${utf8}`,
    [
      ['gar', '='],
      ['gar ', 'rejected'],
      ['Gar', '='],
      ['g\u00e1r', '='],
      ['garden-10', 'rejected'],
      ['', '='],
    ],
  ],
  ['tenant', 'BIGINT', tenants],
  ['tenant', 'DECIMAL(30)', tenants],
  [
    'tenant',
    'INT',
    [
      ['1', '='],
      ['1abc', 'rejected'],
      ['', 'rejected'],
    ],
  ],
  ...["ENUM('shy', 'bold')", "SET('shy', 'bold')", 'DOUBLE', 'DATETIME', 'DECIMAL(10, 2)', 'BINARY(4)'].map(
    (type): ColumnCase => ['tenant', type, 'unusable'],
  ),
  ['further', `VARCHAR(5) ${utf8}`, [...cut, [null, '=']]],
  [
    'further',
    'CHAR(5)',
    [
      ['abcde', '='],
      ['ab ', 'rejected'],
      ['abcdefgh', 'rejected'],
    ],
  ],
  [
    'further',
    "ENUM('shy', 'bold')",
    [
      ['shy', '='],
      ['1', 'rejected'],
      [2, 'rejected'],
      ['SHY', 'rejected'],
      ['tall', 'rejected'],
    ],
  ],
  [
    'further',
    "SET('shy', 'bold')",
    [
      ['shy,bold', '='],
      ['3', 'rejected'],
      ['tall', 'rejected'],
    ],
  ],
  [
    'further',
    'INT',
    [
      [7, '='],
      ['7abc', 'rejected'],
      [true, { as: '1' }],
    ],
  ],
];

export const sqliteCases: readonly ColumnCase[] = [
  ...['INTEGER', 'BIGINT', 'TEXT', 'NUMERIC', 'DECIMAL(20)', 'VARCHAR(5)', 'BLOB', ''].map(
    (type): ColumnCase => ['id', type, [...large, [-(2n ** 63n), '=']]],
  ),
  ...['REAL', 'DOUBLE'].map((type): ColumnCase => ['id', type, 'unusable']),
  ...(['name', 'tag'] as const).flatMap((of): ColumnCase[] => [
    [
      of,
      'VARCHAR(5)',
      [
        ['007', '='],
        ['abcdefgh ', '='],
        ['1e3', '='],
      ],
    ],
    [of, 'INTEGER', 'unusable'],
    [of, 'STRING', 'unusable'],
    [of, 'NUMERIC', 'unusable'],
  ]),
  [
    'tenant',
    'TEXT',
    [
      ['007', '='],
      [7, '='],
      [0.1, '='],
      [0.30000000000000004, '='],
      [0.3, '='],
      [1e20, '='],
      [true, '='],
      ['gar', '='],
      ['gar ', 'rejected'],
      ['', '='],
    ],
  ],
  [
    'tenant',
    '',
    [
      ['007', '='],
      [7, '='],
      ['1e3', '='],
    ],
  ],
  ['tenant', 'INTEGER', tenants],
  ...['REAL', 'NUMERIC', 'DATE', 'UUID'].map((type): ColumnCase => ['tenant', type, 'unusable']),
];

/** Texts that look alike to some collation, cast or driver: each is a namespace of its own, or none. */
const apart: readonly ColumnValue[] = [
  ...[
    'garden',
    'Garden',
    'GARDEN',
    'garde\u0144',
    'g\u00e1rden',
    'ga\u0301rden',
    'garden\u200b',
    'g\u0430rden',
  ],
  ...['\uff47arden', ' garden', '\tgarden', 'garden\t', 'garden\n', 'garden\r\n', 'gar den', 'gar  den'],
  ...[
    'garden\u00a0',
    '\u00e6',
    'ae',
    '\u00df',
    'ss',
    'SS',
    '\u0130',
    'i',
    'I',
    '\u0131',
    '\ufb01',
    'fi',
    '\u212a',
    'k',
    'K',
  ],
  ...[
    '\u{1f331}',
    '\u{1f332}',
    '\u0161cme',
    'acme',
    '\ufffd',
    '?',
    '\ufffe',
    '\uffff',
    '',
    '0',
    '00',
    '-0',
    '+0',
    '0.0',
  ],
  ...[
    '1',
    '01',
    '1.0',
    '1e0',
    '1abc',
    '0x1',
    '\u0661',
    '\uff11',
    1e21,
    '1e21',
    0.1,
    '0.10',
    0.30000000000000004,
    0.3,
  ],
  ...[
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 64n,
    'true',
    'TRUE',
    'null',
    'NULL',
    '\\N',
    "'",
    "''",
    '"',
    '`',
    '\\',
    '\\\\',
    '%',
    '_',
  ],
  ...[
    new Date('2026-03-29T01:30:00.250Z'),
    new Date('2026-03-29T01:30:00.251Z'),
    '2026-03-29',
    '2026-03-29T01:30:00Z',
  ],
];

/** No namespace: a trailing space is none to MySQL. */
const refused: readonly unknown[] = [
  ...['garden ', 'garden  ', ' ', '  ', '\u{1f331} ', 'a\0', '\ud800', null, undefined, Number.NaN, {}, []],
];

/** @param open a storage whose namespace is what this function returns, on the table of its `schemaOf` */
export function itKeepsNamespacesApart(
  open: (namespace: { tenant: (context: { readonly caller: Caller }) => ColumnValue }) => Promise<Storage>,
): void {
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
          .toMatchObject(isOwn ? { value: 'created' } : { reason: { name: 'RolledBack', resend: 'apart' } });
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
