// The incidents of commands.heavy.ts on a file of SQLite, on a server of libSQL, and of what has no database.
import { renameSync } from 'node:fs';
import { createServer } from 'node:http';
import Database from 'libsql';
import { sqliteStorage } from 'plant-store/sqlite';
import { onTestFinished } from 'vitest';
import { startSqld } from '../ecosystem/sqld.js';
import { load } from '../support/installed.js';
import { freePort, startProgram, untilTestEnds } from '../support/program.js';
import { newFile } from '../support/run-folder.js';
import { listen } from '../support/sockets.js';
import type { CommandCase } from './commands.js';

const { createClient } = await load('@libsql/client');

const timeoutMs = 1_500;

/** A file with a table, a client of the app on it, and a connection beside it. */
async function openFile() {
  const file = newFile();
  const client = createClient({ url: `file:${file}`, timeout: 100 });
  const storage = sqliteStorage(client, { timeoutMs });
  await storage.createTable();
  const beside = new Database(file);
  onTestFinished(() => {
    beside.close();
    client.close();
  });
  return { file, beside, storage, env: { FILE: file } };
}

/** A file that another process has locked. */
async function lockedFile() {
  const { file, storage, env } = await openFile();
  const program =
    "new (require('libsql'))(process.argv[1]).exec('BEGIN IMMEDIATE'); setInterval(() => {}, 1_000)";
  const started = "; console.log('started')";
  const holder = untilTestEnds(startProgram([process.execPath, '-e', program + started, file]));
  await holder.printed(/started/);
  // fuser writes the ids to one stream and the rest of its table to the other.
  return { shows: new RegExp(`\\b${holder.child.pid}\\b`), storage, env };
}

async function openServer() {
  const server = await startSqld();
  onTestFinished(() => server.stop());
  const client = createClient({ url: server.url });
  const storage = sqliteStorage(client, { timeoutMs });
  await storage.createTable();
  return { server, client, storage, env: { SQLD_URL: server.url } };
}

/** Runs SQL on the table of each, by which a create fails; and the command shows it. */
const ofTable = (cause: string, sql: string, shows: RegExp, lacks?: RegExp): CommandCase[] => [
  {
    cause,
    on: 'SQLite file',
    async provoke() {
      const { beside, storage, env } = await openFile();
      beside.exec(sql);
      return { shows, ...(lacks && { lacks }), storage, env };
    },
  },
  {
    cause,
    on: 'libSQL',
    async provoke() {
      const { client, storage, env } = await openServer();
      await client.executeMultiple(sql);
      return { shows, ...(lacks && { lacks }), storage, env };
    },
  },
];

const recreated = (columns: string) => `DROP TABLE plants; CREATE TABLE plants (${columns})`;

export const casesOfSqlite: readonly CommandCase[] = [
  ...ofTable('The table is gone', 'ALTER TABLE plants RENAME TO old', /^$|"old/, /TABLE "?plants/),
  ...ofTable(
    'The unique index is gone',
    recreated('id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT'),
    /CREATE TABLE plants \(id INTEGER NOT NULL/,
    /PRIMARY KEY|UNIQUE/,
  ),
  ...ofTable(
    'A new column must be filled',
    recreated('id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, note TEXT NOT NULL'),
    /note TEXT NOT NULL/,
  ),
  ...ofTable(
    'A constraint, a trigger or a policy rejects nearly',
    "CREATE TRIGGER harm BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'nothing grows'); END",
    /CREATE TRIGGER harm/,
  ),
  { cause: 'Another process has locked the file', on: 'SQLite file', provoke: lockedFile },
  { cause: 'The driver blocks the event loop', on: 'SQLite file', provoke: lockedFile },
  {
    cause: 'The file was moved',
    on: 'SQLite file',
    async provoke() {
      const { file, storage, env } = await openFile();
      renameSync(file, `${file}.old`);
      return { shows: /plants\.db\.old/, storage, env };
    },
  },
  {
    cause: 'The server is stopped',
    on: 'libSQL',
    async provoke() {
      const SQLD_URL = `http://127.0.0.1:${await freePort()}`;
      const storage = sqliteStorage(createClient({ url: SQLD_URL }), { timeoutMs });
      return {
        shows: /Failed to connect to 127\.0\.0\.1|Couldn't connect to server/,
        storage,
        env: { SQLD_URL },
      };
    },
  },
  {
    cause: 'The name of the host is not found',
    on: 'libSQL',
    async provoke() {
      const SQLD_URL = 'http://plants.invalid';
      const storage = sqliteStorage(createClient({ url: SQLD_URL }), { timeoutMs });
      return { shows: /Could not resolve host: plants\.invalid/, storage, env: { SQLD_URL } };
    },
  },
  {
    cause: 'The server or the network is frozen',
    on: 'libSQL',
    async provoke() {
      const { server, storage, env } = await openServer();
      server.freeze();
      return { shows: /timed out after 3/, storage, env };
    },
  },
];

export const casesOfApp: readonly CommandCase[] = [
  {
    cause: 'The issuer of the tokens',
    on: '',
    provoke: async () => ({
      shows: /^000 after |Failed to connect/,
      env: { ISSUER: `http://127.0.0.1:${await freePort()}` },
    }),
  },
  {
    cause: 'The issuer does not respond',
    on: '',
    async provoke() {
      const { url, close } = await listen(createServer(() => {}));
      onTestFinished(close);
      return { shows: /^000 after 5/m, env: { ISSUER: url } };
    },
  },
  {
    cause: 'The process has ended, or is frozen',
    on: 'on its machine',
    async provoke() {
      const program = untilTestEnds(
        startProgram([process.execPath, '-e', "setInterval(() => {}, 1_000); console.log('started')"]),
      );
      await program.printed(/started/);
      program.child.kill('SIGSTOP');
      return { shows: new RegExp(`^ *${program.child.pid} T`, 'm') };
    },
  },
];
