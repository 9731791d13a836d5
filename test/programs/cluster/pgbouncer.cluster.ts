// Columns of the app through PgBouncer, which may give each statement another connection.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { itStoresOwnColumns } from '../../storages/own-columns.js';
import { ownPostgres } from '../../storages/own-columns-databases.js';
import { clean, Daemon, freePorts, until } from './machine.js';
import { onePostgres, type Postgres } from './postgres.js';

describe.skipIf(inject('obstacle'))('postgresStorage behind PgBouncer', () => {
  let server: Postgres;
  let bouncer: Daemon;
  let pool: pg.Pool;
  let inserts = 0;

  beforeAll(async () => {
    server = await onePostgres();
    const { account, folder } = server.daemon;
    const [port] = await freePorts(1);
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
    class CountingClient extends pg.Client {
      override query(...parameters: never[]) {
        if (String(parameters[0]).startsWith('INSERT')) inserts++;
        return super.query(...(parameters as unknown as [never])) as never;
      }
    }
    const connectionString = `postgres://postgres@127.0.0.1:${port}/postgres`;
    pool = new pg.Pool({ connectionString, Client: CountingClient as never });
    await until('PgBouncer', () => pool.query('SELECT 1'));
  });
  afterAll(async () => {
    await pool?.end();
    await clean([bouncer, server.daemon], server.daemon.folder);
  });

  itStoresOwnColumns(() => ownPostgres(pool, () => inserts));
});
