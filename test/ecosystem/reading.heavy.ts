// What the page of recipes says of ids beyond 2^53 when an app reads its plants back, by each line as it stands there.
import { join } from 'node:path';
import { sqliteStorage } from 'plant-store/sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { context } from '../storages/context.js';
import { type Any, load } from '../support/installed.js';
import { newFolder } from '../support/run-folder.js';
import { obstacleOf, onSqlite, openD1, type SqliteLibrary } from './libraries-sqlite.js';
import { evaluate, pageCode, pageText } from './page-rows.js';
import { prismaClient } from './prisma.js';

const ids = [2n ** 63n - 1n, 9_007_199_254_740_993n, -(2n ** 63n)];

/** How a library is opened: as the page's row of that storage, where it has another name there. */
const opens: Readonly<Record<string, () => Promise<SqliteLibrary>>> = {
  'Kysely on @libsql/client': onSqlite['@libsql/client']!.open,
  D1: openD1,
  async 'Prisma on @libsql/client'() {
    const { PrismaLibSql } = await load('@prisma/adapter-libsql');
    const { createClient } = await load('@libsql/client');
    const url = `file:${join(newFolder(), 'plants.db')}`;
    const client = createClient({ url });
    const prisma = await prismaClient('sqlite', new PrismaLibSql({ url }));
    const behind = { run: () => {}, rows: () => [] };
    return { scope: { client, prisma }, behind, close: () => prisma.$disconnect() };
  },
  async 'Drizzle on D1'() {
    const { drizzle } = await load('drizzle-orm/d1');
    const opened = await openD1();
    return { ...opened, scope: { db: drizzle((opened.scope as Any).env.DB) } };
  },
};

/** The same question without what the page adds for ids. */
function plainly(line: string): string {
  if (/\blist\b/.test(line)) return line.replace('list', "'SELECT id, name, tag FROM plants'");
  if (line.startsWith('prisma')) return 'prisma.plant.findMany()';
  return line.startsWith('db.selectFrom')
    ? "db.selectFrom('plants').selectAll().execute()"
    : 'db.select().from(plants)';
}

const text = (value: unknown) =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));

async function scopeOf({ scope, behind }: SqliteLibrary): Promise<Any> {
  const { eq, sql, getTableColumns } = await load('drizzle-orm');
  const { integer, sqliteTable, text } = await load('drizzle-orm/sqlite-core');
  const plants = sqliteTable('plants', { id: integer().primaryKey(), name: text().notNull(), tag: text() });
  return { ...scope, eq, sql, getTableColumns, plants, behind };
}

describe('Reading plants on SQLite', async () => {
  const lines = pageCode('Reading plants on SQLite');

  for (const [name, [line, lineOfOne]] of lines) {
    const obstacle = await obstacleOf(name);
    describe.skipIf(obstacle)(obstacle ? `${name} (skipped: ${obstacle})` : name, () => {
      let opened: SqliteLibrary;
      let scope: Any;
      beforeAll(async () => {
        opened = await (opens[name] ?? onSqlite[name]!.open)();
        scope = await scopeOf(opened);
        if (name.startsWith('Kysely')) {
          const [{ Kysely, sql }, { LibsqlDialect }] = [
            await load('kysely'),
            await load('@libsql/kysely-libsql'),
          ];
          scope = { ...scope, sql, db: new Kysely({ dialect: new LibsqlDialect({ client: scope.client }) }) };
        }
        const { client, db, env } = scope;
        const storage = sqliteStorage(db?.$client ?? client ?? env?.DB ?? db);
        await storage.createTable();
        for (const id of ids) expect(await storage.create({ id, name: 'Rosa' }, context)).toBe('created');
        return () => opened.close();
      });

      const read = async (code: string, id?: bigint) => {
        const all =
          scope.db?.all &&
          ((...given: unknown[]) =>
            new Promise((resolve, reject) => {
              scope.db.all(...given, (error: unknown, rows: unknown) =>
                error ? reject(error) : resolve(rows),
              );
            }));
        return text(
          await evaluate(code, { ...scope, all, id, list: pageText('list'), one: pageText('one') }),
        );
      };

      it('gives every id exactly', async () => {
        const found = await read(line!);
        for (const id of ids) expect(found).toContain(String(id));
      });

      it('finds one plant by its id, and never its neighbour', async () => {
        for (const id of ids) expect(await read(lineOfOne!, id)).toMatch(new RegExp(`"${id}".*Rosa`));
        expect((await read(lineOfOne!, 9_007_199_254_740_992n)) ?? '').not.toContain('Rosa');
      });

      const fault = name.includes('@libsql/client') ? 'throws a RangeError' : 'rounds';
      it(`without that, it ${fault}`, async () => {
        const [found, error] = await read(plainly(line!)).then(
          (found) => [found, undefined],
          (error) => ['', error],
        );
        for (const id of ids) expect(found).not.toContain(String(id));
        expect(error ? `throws a ${(error.cause ?? error).name}` : 'rounds').toBe(fault);
      });
    });
  }
});
