/** The types of `namespace`, `columns` and `names`: `tsc` checks this file, nothing runs it. */
import { createPlantStore, type PlantStorage, type StorageContext, type VerifyToken } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { type MysqlPool, mysqlStorage } from 'plant-store/mysql';
import { type PostgresPool, postgresStorage, schemaOf } from 'plant-store/postgres';
import { type SqliteDatabase, sqliteStorage } from 'plant-store/sqlite';

interface Caller {
  readonly tenant: string;
  readonly email: string | null;
}
declare const pool: PostgresPool;
declare const mysql: MysqlPool;
declare const database: SqliteDatabase;
declare const verify: VerifyToken<Caller>;
declare const verifyTooLittle: VerifyToken<{ readonly tenant: string }>;

const options = {
  namespace: { tenant: ({ caller }: StorageContext<Caller>) => caller.tenant },
  columns: { email: ({ caller }: StorageContext<Caller>) => caller.email, at: () => new Date(), n: () => 1n },
};

export function named(): void {
  const storages: PlantStorage<Caller>[] = [
    postgresStorage<Caller>(pool, { namespace: { tenant: ({ caller }) => caller.tenant } }),
    mysqlStorage<Caller>(mysql, { columns: { email: ({ caller }) => caller.email } }),
    sqliteStorage<Caller>(database, { namespace: { tenant: ({ caller }) => caller.tenant } }),
    memoryStorage<Caller>(new Map(), { namespace: { tenant: ({ caller }) => caller.tenant } }),
    // Inferred from the dictionaries, if these name it.
    postgresStorage(pool, options),
    mysqlStorage(mysql, options),
    sqliteStorage(database, options),
    memoryStorage(undefined, { namespace: options.namespace }),
  ];
  for (const storage of storages) createPlantStore(storage, verify);
  schemaOf(options);
}

export function plain(): void {
  createPlantStore(postgresStorage(pool), verify);
  createPlantStore(memoryStorage(), verify);
  createPlantStore(sqliteStorage(database, { columns: { at: () => new Date() } }), verify);
}

export function renamed(): void {
  const names = { id: 'plant_no', name: 'title', tag: 'kind' };
  createPlantStore(postgresStorage(pool, { names }), verify);
  mysqlStorage(mysql, { ...options, names: { tag: 'kind' } });
  sqliteStorage(database, { names: { id: undefined } });
  schemaOf({ names, namespace: options.namespace });
}

export function mistakes(): void {
  // @ts-expect-error: no member of a plant
  sqliteStorage(database, { names: { title: 'name' } });
  // @ts-expect-error: no name
  postgresStorage(pool, { names: { id: 5 } });
  // @ts-expect-error: memory has no columns
  memoryStorage(new Map(), { names: { id: 'plant_no' } });
  // @ts-expect-error: the verifier gives no email
  createPlantStore(postgresStorage(pool, options), verifyTooLittle);
  // @ts-expect-error: without a type argument the caller is unknown
  postgresStorage(pool, { namespace: { tenant: ({ caller }) => caller.tenant } });
  // @ts-expect-error: a column of the key cannot be null
  postgresStorage<Caller>(pool, { namespace: { email: ({ caller }) => caller.email } });
  // @ts-expect-error: a column cannot be undefined
  sqliteStorage<Caller>(database, { columns: { email: ({ caller }) => caller.email ?? undefined } });
  // @ts-expect-error: a function of a column is not async
  mysqlStorage<Caller>(mysql, { columns: { email: async ({ caller }) => caller.email } });
  // @ts-expect-error: misspelt
  postgresStorage<Caller>(pool, { namespaces: { tenant: ({ caller }) => caller.tenant } });
  // @ts-expect-error: memory stores no columns
  memoryStorage<Caller>(new Map(), { columns: { email: ({ caller }) => caller.email } });
  // @ts-expect-error: no member of the caller
  postgresStorage<Caller>(pool, { namespace: { tenant: ({ caller }) => caller.tenants } });
  // @ts-expect-error: the storage knows whether its driver blocks
  sqliteStorage(database, { blocksEventLoop: true });
  // @ts-expect-error: what groupCommit takes
  postgresStorage<Caller>(pool, { namespace: ({ caller }) => caller.tenant });
}
