// Columns of the app through PgBouncer, which may give each statement another connection.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type PostgresStorage, postgresStorage } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { context } from '../../storages/context.js';
import { onPostgres } from '../../storages/on-postgres.js';
import { itStoresOwnColumns } from '../../storages/own-columns.js';
import { freePort } from '../../support/program.js';
import { clean, Daemon, until } from './machine.js';
import { onePostgres, type Postgres } from './postgres.js';

describe.skipIf(inject('obstacle'))('postgresStorage behind PgBouncer', () => {
  let server: Postgres;
  let bouncer: Daemon;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await onePostgres();
    const { account, folder } = server.daemon;
    const port = await freePort();
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
    ];
    // PgBouncer takes every user with this type of authentication, as one.
    settings[1] += ' user=postgres';
    writeFileSync(join(folder, 'pgbouncer.ini'), settings.join('\n'));
    bouncer = new Daemon(account, folder, 'pgbouncer');
    bouncer.start('/usr/sbin/pgbouncer', ['pgbouncer.ini']);
    pool = new pg.Pool({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    await until('PgBouncer', () => pool.query('SELECT 1'));
  });
  afterAll(async () => {
    await pool?.end();
    await clean([bouncer, server.daemon], server.daemon.folder);
  });

  itStoresOwnColumns(() => onPostgres(pool));

  it('stores each plant in its own table, although sessions share the connections and their prepared statements', async () => {
    const tables = ['roses', 'lilies', 'herbs'];
    const pools = tables.map(() => new pg.Pool({ ...pool.options, max: 3 }));
    const storages = tables.map((table, i) => postgresStorage(pools[i]!, { table }));
    for (const storage of storages) await storage.createTable();
    const creator = async ({ create }: PostgresStorage, table: string) => {
      for (let id = 0n; id < 100n; id += 2n) {
        expect(await create({ id, name: table }, context)).toBe('created');
        const two = [create({ id, name: table }, context), create({ id: id + 1n, name: table }, context)];
        expect(await Promise.all(two)).toEqual(['taken', 'created']);
      }
    };
    await Promise.all(storages.map((storage, i) => creator(storage, tables[i]!)));
    for (const [i, table] of tables.entries()) {
      const { rows } = await pools[i]!.query(
        `SELECT DISTINCT name, count(*)::int AS n FROM ${table} GROUP BY name`,
      );
      expect(rows).toEqual([{ name: table, n: 100 }]);
      await pools[i]!.end();
    }
  });
});
