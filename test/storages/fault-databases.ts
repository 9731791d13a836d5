// How each database provokes the faults of `faults.ts`.
import type pg from 'pg';
import type { NewPlant, PlantStorage } from 'plant-store';
import { schemaOf as postgresSchema } from 'plant-store/postgres';
import { schema as sqliteSchema } from 'plant-store/sqlite';
import type { Doorway } from '../support/doorway.js';
import { plantOf, withColumns } from '../support/tables.js';
import type { Faults, FaultyDatabase } from './faults.js';

let triggers = 0;

/**
 * Lets the next INSERT fail. An error of a trigger is the server's own: it has the code, the fields and the way of a real one. A
 * sequence counts the tries, because a rollback does not take its numbers back.
 */
const failOnPostgres = (code: string, table: string) => {
  const name = `fail ${triggers++}`;
  return [
    `CREATE SEQUENCE "tries of ${name}"`,
    `CREATE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('"tries of ${name}"') = 1 THEN RAISE 'once' USING ERRCODE = '${code}'; END IF; RETURN new; END $$`,
    `CREATE TRIGGER "${name}" BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION "${name}"()`,
  ];
};

const postgresFaults: Faults = {
  schemaOf: (table) => postgresSchema({ table: table.replaceAll('"', '') }),
  makeNamesUnique: (table) => `CREATE UNIQUE INDEX ON ${table} (name)`,
  failOnce: {
    'a deadlock': (table) => failOnPostgres('40P01', table),
    'a serialization failure': (table) => failOnPostgres('40001', table),
  },
  fail: failOnPostgres,
  quote: (table) => {
    const name = `quote ${triggers++}`;
    return [
      `CREATE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE 'no bed for %, %, %, %', new.name, quote_literal(new.name), encode(new.name::bytea, 'hex'), encode(new.name::bytea, 'base64')
        USING DETAIL = new.name, HINT = new.name; END $$`,
      `CREATE TRIGGER "${name}" BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION "${name}"()`,
    ];
  },
  failAtCommit: (table) => {
    const tags = `"tags of ${table.replaceAll('"', '')}"`;
    return [
      `CREATE TABLE ${tags} (name text PRIMARY KEY)`,
      `ALTER TABLE ${table} ADD FOREIGN KEY (tag) REFERENCES ${tags} DEFERRABLE INITIALLY DEFERRED`,
    ];
  },
  locksRows: true,
};

let tables = 0;

/** @param storageOf makes the storage whose table has this name */
export function faultyPostgres(
  behind: () => pg.Pool,
  doorway: () => Doorway,
  storageOf: (options: { table: string; timeoutMs: number }) => PlantStorage,
): FaultyDatabase {
  const run = async (...statements: string[]) => {
    for (const statement of statements) await behind().query(statement);
  };
  return {
    doorway,
    faults: postgresFaults,
    isPrecise: true,
    run,
    async begin(statement) {
      const client = await behind().connect();
      await client.query('BEGIN');
      // The server ends a deadlock by an error of the one that has waited for this time: the create, which waits for 250 ms at most.
      await client.query("SET deadlock_timeout = '10s'");
      await client.query(statement);
      return {
        run: (statement) => client.query(statement),
        end: (how) => client.query(how).finally(() => client.release(true)),
      };
    },
    locks: {
      isWaiting: async () => (await behind().query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0,
      async deadlocks() {
        const select = 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()';
        return (await behind().query(select)).rows[0].deadlocks;
      },
    },
    async open(timeoutMs) {
      const name = `faulty ${tables++}`;
      const table = `"${name}"`;
      await run(postgresSchema({ table: name }));
      const peek = async (id: bigint): Promise<NewPlant | undefined> =>
        plantOf((await behind().query(`SELECT * FROM ${table} WHERE id = ${id}`)).rows[0]);
      return { storage: storageOf({ table: name, timeoutMs }), table, peek };
    },
  };
}

const tag = 'TEXT REFERENCES tags (name) DEFERRABLE INITIALLY DEFERRED';

export const sqliteFaults: Faults = {
  schemaOf: () => sqliteSchema,
  makeNamesUnique: () => 'CREATE UNIQUE INDEX names ON plants (name)',
  failOnce: {},
  locksRows: false,
};

/** Of a connection whose foreign keys are on. */
export const sqliteFaultsAtCommit: Faults = {
  ...sqliteFaults,
  failAtCommit: () => [
    'CREATE TABLE tags (name TEXT PRIMARY KEY)',
    'DROP TABLE plants',
    withColumns(sqliteSchema, { tag }),
  ],
};

/** What reads a SQLite past the storage, and provokes its faults. */
export interface BehindSqlite {
  readonly run: (sql: string) => unknown;
  readonly rows: (sql: string) => Promise<readonly unknown[]> | readonly unknown[];
}

/**
 * @param open makes the storage over the table `plants`
 * @param isApart whether `behind` is a connection of its own, whose transactions lock the database
 */
export function faultySqlite(
  behind: () => BehindSqlite,
  open: (timeoutMs: number) => PlantStorage,
  { isApart, isPrecise, faults = sqliteFaults }: { isApart: boolean; isPrecise: boolean; faults?: Faults },
): FaultyDatabase {
  const run = async (...statements: string[]) => {
    for (const statement of statements) await behind().run(statement);
  };
  const begin = async (statement: string) => {
    await run('BEGIN IMMEDIATE', statement);
    return { run, end: run };
  };
  return {
    faults,
    isPrecise,
    run,
    ...(isApart && { begin }),
    async open(timeoutMs) {
      await run('DROP TABLE IF EXISTS plants', 'DROP TABLE IF EXISTS tags', sqliteSchema);
      const peek = async (id: bigint): Promise<NewPlant | undefined> => {
        const select = `SELECT printf('%d', id) AS id, name, tag FROM plants WHERE id = ${id}`;
        return plantOf((await behind().rows(select))[0] as Record<string, unknown> | undefined);
      };
      return { storage: open(timeoutMs), table: 'plants', peek };
    },
  };
}
