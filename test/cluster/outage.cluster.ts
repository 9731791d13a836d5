// A database that is away for 30 s, killed or frozen, under 64 creators: who is told what, and when.
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { acceptTokens, createPlantStore } from 'plant-store';
import { mysqlStorage } from 'plant-store/mysql';
import { postgresStorage } from 'plant-store/postgres';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';
import { oneMariaDb } from './galera.js';
import { clean } from './machine.js';

const creatorCount = 64;
const outageMs = 30_000;

/** A database, the storage on it, and ways to harm it. */
interface Patient {
  readonly storage: ReturnType<typeof postgresStorage>;
  readonly kill: () => Promise<void>;
  /** Resolves when the server takes connections again. */
  readonly restart: () => Promise<void>;
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
  readonly storedIds: () => Promise<Set<number>>;
  readonly close: () => Promise<void>;
}

async function postgres(): Promise<Patient> {
  const server = await PostgresServer.start();
  // As `pg` comes: it waits for a connection for ever.
  const pool = new pg.Pool({ connectionString: server.url });
  pool.on('error', () => {});
  return {
    storage: postgresStorage(pool),
    kill: () => server.kill(),
    restart: () => server.start(),
    freeze: async () => server.signal('SIGSTOP'),
    thaw: async () => server.signal('SIGCONT'),
    async storedIds() {
      return new Set((await pool.query('SELECT id::int FROM plants')).rows.map(({ id }) => id));
    },
    async close() {
      await pool.end();
      await server.close();
    },
  };
}

async function mariaDb(): Promise<Patient> {
  const server = await oneMariaDb();
  const pool = mysql.createPool({ uri: server.url });
  return {
    storage: mysqlStorage(pool),
    kill: () => server.daemon.signal('SIGKILL'),
    async restart() {
      server.start();
      await server.ready();
    },
    freeze: () => server.daemon.signal('SIGSTOP'),
    thaw: () => server.daemon.signal('SIGCONT'),
    async storedIds() {
      const [rows] = await pool.query<mysql.RowDataPacket[]>('SELECT id FROM plants');
      return new Set(rows.map(({ id }) => Number(id)));
    },
    async close() {
      await pool.end();
      await clean([server.daemon], server.daemon.folder);
    },
  };
}

interface Answer {
  readonly id: number;
  /** The number of the Error, or 200. */
  readonly told: number;
  readonly from: number;
  readonly ms: number;
}

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

describe.skipIf(inject('obstacle'))(`away for ${outageMs / 1000} s under ${creatorCount} creators`, () => {
  it.each([
    ['PostgreSQL', 'killed', postgres],
    ['PostgreSQL', 'frozen', postgres],
    ['MariaDB', 'killed', mariaDb],
    ['MariaDB', 'frozen', mariaDb],
  ])(
    '%s %s: all are told in time and truly, and creation is back within a second',
    async (name, harm, open) => {
      const patient = await open();
      cleanUps.push(patient.close);
      await patient.storage.createTable();
      const answers: Answer[] = [];
      let stopped = false;
      const heapBefore = process.memoryUsage().heapUsed;
      let heapMost = 0;
      const watch = setInterval(() => {
        heapMost = Math.max(heapMost, process.memoryUsage().heapUsed);
      }, 100);
      const creating = createFor(patient, answers, () => stopped);
      await sleep(2_000);

      const away = performance.now();
      await (harm === 'killed' ? patient.kill() : patient.freeze());
      await sleep(outageMs);
      await (harm === 'killed' ? patient.restart() : patient.thaw());
      const back = performance.now();
      await sleep(3_000);
      stopped = true;
      await creating;
      clearInterval(watch);

      const during = answers.filter(({ from, ms }) => from + ms > away && from < back);
      const firstCreated = Math.min(
        ...answers
          .filter(({ told, from, ms }) => told === 200 && from + ms > back)
          .map(({ from, ms }) => from + ms),
      );
      const longest = Math.max(...answers.map(({ ms }) => ms));
      // All who came after the first batch had been given up, but for the probes.
      const late = during
        .filter(({ from }) => from > away + 11_000)
        .map(({ ms }) => ms)
        .sort((a, b) => a - b);
      const shares = Object.fromEntries(
        [200, 50001, 50301, 50302].map((told) => [
          told,
          during.filter((answer) => answer.told === told).length,
        ]),
      );
      console.log(
        `${name} ${harm}: longest wait ${longest.toFixed(0)} ms; later p50 ${late[late.length >> 1]?.toFixed(1)} ms, p99 ${late[Math.floor(late.length * 0.99)]?.toFixed(0)} ms, max ${late.at(-1)?.toFixed(0)} ms; told ${JSON.stringify(shares)}; heap ${(heapBefore / 2 ** 20).toFixed(0)} -> ${(heapMost / 2 ** 20).toFixed(0)} MiB; first 200 after ${(firstCreated - back).toFixed(0)} ms`,
      );

      const stored = await patient.storedIds();
      const lost = answers.filter(({ id, told }) => told === 200 && !stored.has(id));
      const untrue = answers.filter(({ id, told }) => told === 50301 && stored.has(id));
      expect([lost, untrue]).toEqual([[], []]);
      expect(new Set(answers.map(({ told }) => told)).size).toBeLessThanOrEqual(4);
      expect(longest).toBeLessThan(10_500);
      expect(late[Math.floor(late.length * 0.9)]).toBeLessThan(300);
      expect(firstCreated - back).toBeLessThan(1_000);
      expect(heapMost - heapBefore).toBeLessThan(200 * 2 ** 20);
    },
  );
});

/** Creators that each send one plant after the other, and wait a little when they are told to. */
async function createFor({ storage }: Patient, answers: Answer[], isStopped: () => boolean): Promise<void> {
  const handle = createPlantStore(storage, acceptTokens('secret'), { onError: () => {} });
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  let next = 1;
  const creator = async () => {
    while (!isStopped()) {
      const id = next++;
      const from = performance.now();
      const body = `{"id":${id},"name":"Rosa ${id}"}`;
      const response = await handle({ method: 'POST', url: '/plants', headers, body });
      const told = response.status === 200 ? 200 : JSON.parse(response.body).error;
      answers.push({ id, told, from, ms: performance.now() - from });
      if (told !== 200) await sleep(100 + 200 * Math.random());
    }
  };
  await Promise.all(Array.from({ length: creatorCount }, creator));
}
