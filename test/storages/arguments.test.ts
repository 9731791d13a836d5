// What a storage is made of is checked at once, so that a mistake is seen when the app starts.
import Database from 'libsql';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool, createPoolCluster } from 'mysql2/promise';
import pg from 'pg';
import { memoryStorage } from 'plant-store/memory';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { describe, expect, it } from 'vitest';

const [pool, mysql, database] = [new pg.Pool(), createPool({}), new Database(':memory:')];

it('mysqlStorage accepts every pool of mysql2/promise', () => {
  for (const accepted of [mysql, createPoolCluster().of('*', 'ORDER'), createCallbackPool({}).promise()])
    expect(() => mysqlStorage(accepted)).not.toThrow();
});

/** PostgreSQL cuts a name to 63 bytes. */
const long = ['x'.repeat(64), '\u{e9}'.repeat(32)];

describe.each<[string, (options: object) => unknown, tables: unknown[], columns: string[]]>([
  ['memoryStorage', (options) => memoryStorage(new Map(), options), [], []],
  ['sqliteStorage', (options) => sqliteStorage(database, options), ['', 'a\0b', 5], []],
  [
    'postgresStorage',
    (options) => postgresStorage(pool, options),
    ['', 'a.', '.b', 'a.b.c', 'a\0b', 5, ...long, `garden.${long[0]}`],
    long,
  ],
  ['mysqlStorage', (options) => mysqlStorage(mysql, options), ['', '.', 'a.', 'a.b.c', 'a\0b', 7], []],
])('%s', (name, make, tables, columns) => {
  it.each<[string, unknown]>([
    ['a value instead of a function', { tenant: 'garden' }],
    ['a function instead of columns', () => 'garden'],
    ['a name instead of columns', 'tenant'],
    ['null instead of columns', null],
  ])('throws a TypeError for a namespace of %s, and shows what to write', (_, namespace) => {
    expect(() => make({ namespace })).toThrow(
      new TypeError(
        'namespace must be columns and their functions, such as { tenant: ({ caller }) => caller.tenant }',
      ),
    );
  });
  if (name === 'memoryStorage') return;

  const x = () => 'x';
  it.each<[string, object]>([
    ['a column without a name', { namespace: { '': x } }],
    ['a column with U+0000', { columns: { 'a\0': x } }],
    ['the id as a column', { namespace: { id: x } }],
    ['the name as a column, in capitals', { columns: { Name: x } }],
    ['one column twice', { namespace: { tenant: x }, columns: { tenant: x } }],
    ...tables.map((table): [string, object] => [`the table ${JSON.stringify(table)}`, { table }]),
    ...columns.flatMap((column): [string, object][] => [
      [`the column ${column} of the namespace`, { namespace: { [column]: x } }],
      [`the column ${column}`, { columns: { [column]: x } }],
    ]),
  ])('throws a TypeError for %s', (_, options) => {
    expect(() => make(options)).toThrow(TypeError);
  });

  it.each<[string, object, string]>([
    ['of a member that there is not', { names: { title: 'name' } }, 'got title'],
    ['that is no name', { names: { id: 'plant_no', tag: 5 } }, 'names.tag must be a name'],
    ['without a character', { names: { name: '' } }, 'names.name must be a name'],
    ['with U+0000', { names: { id: 'a\0' } }, 'names.id must be a name'],
    ['that is null', { names: { id: null } }, 'names.id must be a name'],
    ['of two members', { names: { name: 'Tag' } }, 'got id, Tag, tag'],
    ['of a further column', { names: { tag: 'kind' }, columns: { kind: x } }, 'got id, name, kind, kind'],
    ['that are a text', { names: 'plant_no' }, 'got a string'],
    ['that are null', { names: null }, 'got null'],
    ...columns.map((name): [string, object, string] => [name, { names: { id: name } }, `got ${name}`]),
  ])('throws a TypeError for names %s, and names the bad one', (_, options, why) => {
    expect(() => make(options)).toThrow(TypeError);
    expect(() => make(options)).toThrow(why);
  });

  it('accepts names that are left out, and a column of the app that is called as a member', () => {
    expect(() => make({ names: { id: undefined } })).not.toThrow();
    expect(() => make({ names: { id: 'plant_no' }, columns: { id: x } })).not.toThrow();
  });

  it('throws a TypeError if refuse is no function', () => {
    expect(() => make({ refuse: 'no nettles' })).toThrow(new TypeError('refuse must be a function'));
  });

  const all =
    'table, names, namespace, columns, refuse, maxBatch, maxQueued, maxQueuedText, timeoutMs, onStatus, onBatch';
  it.each<[string, unknown, string]>([
    ['with an unknown option, and names all', { tabel: 'x' }, `unknown option tabel; the options are ${all}`],
    ['that are null', null, 'the options must be an object, got null'],
    ['that are a string', 'plants', 'the options must be an object, got a string'],
  ])('throws a TypeError for options %s', (_, options, why) => {
    expect(() => make(options as object)).toThrow(new TypeError(why));
  });
});
