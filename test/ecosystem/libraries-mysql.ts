// How each library of the table *Libraries on MySQL and MariaDB* is opened: the variables that its line on the page uses.
import { createPool } from 'mysql2/promise';
import { insertStorage } from '../../examples/storages/one-insert-mysql.js';
import { load } from '../support/installed.js';
import type { Library } from './page-rows.js';
import { prismaClient } from './prisma.js';
import { typeOrm } from './typeorm.js';

/** Of MariaDB's connector: longer than 300 creates take on a busy machine, and shorter than a test. */
const timeouts = 'connectTimeout=5000&acquireTimeout=20000';

interface Row {
  readonly open: (url: string) => Promise<Library>;
  /** Whether the line is a storage of its own, whose errors leave the outcome unknown. */
  readonly isOwn?: boolean;
}

/** By the first column of the table. After a comma, the same row with an old version. */
export const onMysql: Readonly<Record<string, Row>> = {
  mysql2: {
    async open(url) {
      const pool = createPool(url);
      return { scope: { pool }, close: () => pool.end() };
    },
  },
  'mysql2, 2.3': {
    async open(url) {
      const { createPool } = (await load('mysql2-oldest/promise.js')).default;
      const pool = createPool(url);
      return { scope: { pool }, close: () => pool.end() };
    },
  },
  Drizzle: {
    async open(url) {
      const { drizzle } = await load('drizzle-orm/mysql2');
      const db = drizzle(url);
      return { scope: { db }, close: () => db.$client.promise().end() };
    },
  },
  'mariadb, its connector': {
    isOwn: true,
    async open(url) {
      const { createPool } = await load('mariadb');
      const pool = createPool(`${url.replace(/^mysql/, 'mariadb')}?${timeouts}`);
      return { scope: { pool, insertStorage }, close: () => pool.end() };
    },
  },
  Prisma: {
    isOwn: true,
    async open(url) {
      const { PrismaMariaDb } = await load('@prisma/adapter-mariadb');
      const adapter = new PrismaMariaDb(`${url.replace(/^mysql/, 'mariadb')}?${timeouts}`);
      const prisma = await prismaClient('mysql', adapter);
      return { scope: { prisma, insertStorage }, close: () => prisma.$disconnect() };
    },
  },
  TypeORM: { open: (url) => typeOrm('typeorm', { type: 'mysql', url }) },
  'TypeORM, 0.2': { open: (url) => typeOrm('typeorm-oldest', { type: 'mysql', url }) },
};
