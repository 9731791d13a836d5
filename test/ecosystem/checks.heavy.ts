// `check()` on the tables of `test/storages/checks-*.ts`, through the real libraries of SQLite.
import { type SqliteHandle, sqliteStorage } from 'plant-store/sqlite';
import { beforeAll, describe } from 'vitest';
import type { OpenTable, TableKind } from '../storages/checks.js';
import { itChecksAsItCreates } from '../storages/checks.js';
import { kinds } from '../storages/checks-kinds.js';
import { obstacleOf, onSqlite, openD1ByRequests, type SqliteLibrary } from './libraries-sqlite.js';
import { evaluate, pageRows } from './page-rows.js';

interface Opened {
  readonly open: () => Promise<SqliteLibrary>;
  /** Whether it asks for foreign keys unless it is told to. */
  readonly hasForeignKeys: boolean;
  /** A connection that has failed at a COMMIT sees nothing of what others write, until its statements are collected as garbage. */
  readonly isOpenedEachTime?: boolean;
  /** The database says nothing else than `internal error` of a statement that ends a transaction. */
  readonly keepsTransactions?: boolean;
}

const libraries: Readonly<Record<string, Opened>> = {
  '@libsql/client': { open: onSqlite['@libsql/client']!.open, hasForeignKeys: true, isOpenedEachTime: true },
  'Drizzle on better-sqlite3': { open: onSqlite['Drizzle on better-sqlite3']!.open, hasForeignKeys: true },
  sqlite3: { open: onSqlite.sqlite3!.open, hasForeignKeys: false },
  '@tursodatabase/database': { open: onSqlite['@tursodatabase/database']!.open, hasForeignKeys: false },
  D1: { open: openD1ByRequests, hasForeignKeys: true, keepsTransactions: true },
};

const objects = `SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'
AND name NOT GLOB '_cf_*' AND name NOT GLOB '__turso*' ORDER BY type = 'table', name = 'years', name = 'owners', name = 'tags', name = 'tenants'`;

type Objects = readonly { readonly type: string; readonly name: string }[];

const obstacles = await Promise.all(Object.keys(libraries).map(obstacleOf));

describe('SQLite by the real library', () => {
  for (const [i, [name, { open, hasForeignKeys, isOpenedEachTime, keepsTransactions }]] of Object.entries(
    libraries,
  ).entries()) {
    const obstacle = obstacles[i];
    describe.skipIf(obstacle)(obstacle ? `${name} (skipped: ${obstacle})` : name, () => {
      let library: SqliteLibrary;

      beforeAll(async () => {
        library = await open();
        return async () => void (await library.close());
      });

      const objectsOf = async () => (await library.behind.rows(objects)) as Objects;

      async function makeTable({ options }: TableKind, statements: string): Promise<OpenTable | undefined> {
        if (isOpenedEachTime) {
          await library.close();
          library = await open();
        }
        // The words of an index are tables of their own, which go with it.
        for (const { type, name } of await objectsOf()) {
          await Promise.resolve(library.behind.run(`DROP ${type} IF EXISTS "${name}"`)).catch(() => {});
        }
        try {
          for (const statement of statements.split(/;\n/)) await library.behind.run(statement);
        } catch {
          return undefined;
        }
        const give = (handle: SqliteHandle) => handle;
        const line = pageRows('Libraries on SQLite').get(name)!;
        const handle = evaluate(line, { ...library.scope, sqliteStorage: give }) as SqliteHandle;
        return {
          storage: () => sqliteStorage(handle, { timeoutMs: 5_000, ...options } as object),
          run: async (sql) => library.behind.run(sql),
          async stored() {
            const tables = (await objectsOf()).filter(({ type }) => type === 'table');
            return Promise.all(
              tables.map(async ({ name }) => [name, await library.behind.rows(`SELECT * FROM "${name}"`)]),
            );
          },
        };
      }

      const isThere = ({ sqlite = '', session }: TableKind) =>
        !session &&
        (hasForeignKeys || !sqlite.includes('REFERENCES')) &&
        !(keepsTransactions && /ON CONFLICT ROLLBACK|RAISE\(ROLLBACK/.test(sqlite));
      // Each is a file or a server: empty tables are enough here.
      const own = Object.entries(kinds)
        .filter(([, kind]) => isThere(kind))
        .map(([title, kind]) => [title, { ...kind, filled: false }] as const);
      itChecksAsItCreates('sqlite', Object.fromEntries(own), makeTable);
    });
  }
});
