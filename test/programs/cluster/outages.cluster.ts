import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { describe, inject, it } from 'vitest';
import { seed } from '../../support/random.js';
import { type Holdings, violationsIn } from './checker.js';
import { oneMariaDb } from './galera.js';
import { type Answer, Load } from './load.js';
import { clean, type Daemon, until } from './machine.js';
import { onePostgres } from './postgres.js';

/** A server, and how to look behind the storage. */
interface Server {
  readonly daemon: Daemon;
  readonly url: string;
  start(): void;
  query(sql: string): Promise<unknown>;
  plants(): Promise<Holdings>;
}

const outage = 30_000;

/** `timeoutMs` of a storage that was given none. */
const timeoutMs = 10_000;

const servers: Record<string, () => Promise<Server>> = {
  PostgreSQL: async () => {
    const server = await onePostgres();
    const pool = new pg.Pool({ connectionString: server.url });
    await postgresStorage(pool).createTable();
    await pool.end();
    return server;
  },
  MariaDB: async () => {
    const server = await oneMariaDb();
    const pool = mysql.createPool(server.url);
    await mysqlStorage(pool).createTable();
    await pool.end();
    return server;
  },
};

interface Outage {
  readonly begin: (server: Server) => Promise<unknown>;
  /** Resolves when the server accepts statements again. */
  readonly end: (server: Server) => Promise<unknown>;
}

const outages: Record<string, Outage> = {
  'killed for 30 s': {
    begin: ({ daemon }) => daemon.signal('SIGKILL'),
    end(server) {
      server.start();
      return until('the server', () => server.query('SELECT 1'));
    },
  },
  'frozen for 30 s': {
    begin: ({ daemon }) => daemon.signal('SIGSTOP'),
    end: ({ daemon }) => daemon.signal('SIGCONT'),
  },
};

describe.skipIf(inject('obstacle'))(`64 creators while the database is away (seed ${seed})`, () => {
  // All at once: the servers are away for most of the time, and so it takes one minute instead of four.
  for (const [name, open] of Object.entries(servers)) {
    for (const [what, { begin, end }] of Object.entries(outages)) {
      it.concurrent(`keeps its promises, and its time, when ${name} is ${what}`, async ({ expect }) => {
        const server = await open();
        const { url } = server;
        const creators = { apps: 1, creators: 64, rivals: 0, pauseMs: 100 };
        const load = new Load({ table: 'plants', urls: [url], ...creators });
        try {
          await load.tells('created', 1_000);
          const calm = load.memory;
          const struck = Date.now();
          await begin(server);
          await sleep(outage);
          const ended = Date.now();
          await end(server);
          const back = Date.now();
          await load.tells('created', 1_000);
          const answers = await load.stop();
          const violations = violationsIn({ attempts: answers, machines: [await server.plants()] });
          const first = Math.min(
            ...answers.filter((answer) => answer.at >= back && answer.number === 200).map(({ at }) => at),
          );
          const longest = Math.max(...answers.map(({ took }) => took));
          console.log(load.summary);
          expect(violations).toEqual([]);
          // Each create settles within its own time; half a second is for two busy cores.
          expect(longest).toBeLessThan(timeoutMs + 500);
          // Then one probe at a time is in flight, and all other creates fail at once.
          expect(slowTogether(answers, struck + timeoutMs + 500, ended)).toEqual([]);
          // A second, and three for a server that shares two busy cores.
          expect(first - back).toBeLessThan(4_000);
          expect(load.memory - calm).toBeLessThan(64 * 2 ** 20);
        } finally {
          load.kill();
          await clean([server.daemon], server.daemon.folder);
        }
      });
    }
  }
});

/** Creates called between these times that took over 300 ms while another one did. */
function slowTogether(answers: readonly Answer[], from: number, to: number): Answer[] {
  const slow = answers
    .filter(({ at, took }) => took > 300 && at - took > from && at - took < to)
    .sort((a, b) => a.at - a.took - (b.at - b.took));
  // A probe may start as soon as the last one settled, which is read from the clock a moment later.
  return slow.filter(({ at, took }, i) => i > 0 && at - took < slow[i - 1]!.at - 1);
}
