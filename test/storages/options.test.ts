// The options of the SQL storages: another name is told with all that there are, before a table is asked for.
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { sqliteStorage } from 'plant-store/sqlite';
import { sqliteAsyncStorage } from 'plant-store/sqlite-async';
import { expect, it } from 'vitest';

const open = {
  postgresStorage: (options: unknown) =>
    postgresStorage({ query: async () => ({ rows: [] }) }, options as never),
  mysqlStorage: (options: unknown) =>
    mysqlStorage({ getConnection: async () => ({}) as never }, options as never),
  sqliteStorage: (options: unknown) =>
    sqliteStorage({ exec() {}, prepare: () => ({}) as never }, options as never),
  sqliteAsyncStorage: (options: unknown) =>
    sqliteAsyncStorage({ batch: async () => [], close() {} }, options as never),
};

it.each(Object.entries(open))('%s names its options', (_, make) => {
  const names = 'table, namespace, columns, refuse, maxBatch, maxQueued, maxQueuedText, timeoutMs, onBatch';
  expect(() => make({ tabel: 'x' })).toThrow(new TypeError(`unknown option tabel; the options are ${names}`));
  expect(() => make(null)).toThrow(new TypeError('the options must be an object, got null'));
  expect(() => make('plants')).toThrow(new TypeError('the options must be an object, got a string'));
});
