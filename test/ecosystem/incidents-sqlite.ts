/** Incidents of SQLite by `@libsql/client` on a file, on a server of libSQL, and of D1, as in incidents.ts. */
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { schema } from 'plant-store/sqlite';
import { onTestFinished } from 'vitest';
import { mountDisk, removeFolder } from '../programs/cluster/machine.js';
import { bundleOf } from '../support/bundle.js';
import { Doorway } from '../support/doorway.js';
import { ecosystemFolder, load } from '../support/installed.js';
import { type Program, portOf, startProgram } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';
import { d1Binding } from './d1-binding.js';
import { cannotUse, type Incident, type Plot, unavailable, unusable } from './incidents.js';
import { startSqld } from './sqld.js';

type Kind = 'a file of libSQL' | 'a server of libSQL' | 'D1';

interface SqliteDatabase {
  /** The setting of the app. */
  readonly url: string;
  readonly folder: string;
  /** Runs SQL beside the app. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly server?: Awaited<ReturnType<typeof startSqld>>;
  readonly doorway?: Doorway;
  /** What runs its D1. */
  readonly miniflare?: Program;
}

/** What one incident has, with a database of its own. */
export type SqliteGarden = Plot & SqliteDatabase;

/** Opens the database of an incident, by the beginning of its name. */
export async function openDatabaseOfSqlite({
  name,
  ...incident
}: Incident<SqliteGarden>): Promise<SqliteDatabase> {
  const [kind] = name.split(':') as [Kind];
  const folder = incident.diskMiB ? smallDisk(incident.diskMiB) : newFolder();
  if (kind === 'a file of libSQL') {
    const file = join(folder, 'plants.db');
    const database = new Database(file);
    onTestFinished(() => void database.close());
    database.exec(schema);
    return { url: `file:${file}`, folder, run: async (sql) => database.exec(sql) };
  }
  if (kind === 'D1') return openD1(folder);
  const server = await startSqld(folder);
  onTestFinished(() => server.stop());
  const { createClient } = await load('@libsql/client');
  const run = (sql: string) => createClient({ url: server.url }).executeMultiple(sql);
  await run(schema);
  const doorway = await Doorway.before({ host: '127.0.0.1', port: server.port });
  onTestFinished(() => doorway.close());
  return { url: `http://127.0.0.1:${doorway.port}`, folder, run, server, doorway };
}

async function openD1(folder: string): Promise<SqliteDatabase> {
  const program = bundleOf('test/programs/runtimes/miniflare.ts', ecosystemFolder());
  const worker = bundleOf('test/ecosystem/d1-worker.ts', ecosystemFolder());
  const options = JSON.stringify({ d1Databases: { DB: 'plants' }, d1Persist: folder });
  const miniflare = startProgram([process.execPath, program, worker, options]);
  onTestFinished(async () => {
    // It ends its workerd.
    miniflare.child.kill('SIGTERM');
    await miniflare.exit;
  });
  const url = `http://127.0.0.1:${await portOf(miniflare)}`;
  const run = async (sql: string) => d1Binding(url).batch([{ sql, args: [] }]);
  await run(schema);
  return { url: `d1:${url}`, folder, run, miniflare };
}

function smallDisk(mib: number): string {
  const folder = newFolder();
  mountDisk(folder, { uid: 0, gid: 0 }, mib);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Leaves no room on the disk. */
const fillDisk = async ({ folder }: SqliteGarden) => {
  const file = join(folder, 'other');
  try {
    writeFileSync(file, Buffer.alloc(64 << 20));
  } catch {
    // It has taken what there was.
  }
  return () => rmSync(file);
};

/** Runs SQL beside the app, and other SQL as the remedy. */
const sql =
  (text: string, remedy: string) =>
  async ({ run }: SqliteGarden) => {
    await run(text);
    return () => run(remedy);
  };

const rename = ['ALTER TABLE plants RENAME TO old', 'ALTER TABLE old RENAME TO plants'] as const;
const rejection = [
  "CREATE TRIGGER harm BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'nothing grows'); END",
  'DROP TRIGGER harm',
] as const;

/** Freezes the workerd that Miniflare has started. */
async function freezeWorkerd({ miniflare }: SqliteGarden) {
  const args = ['-o', 'pid=', '--ppid', String(miniflare!.child.pid)];
  const children = execFileSync('ps', args, { encoding: 'utf8' }).trim().split(/\s+/);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of children) process.kill(Number(pid), name);
  };
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}

const full = { ...unavailable, diskMiB: 8, provoke: fillDisk } as const;

const ofFile: readonly Incident<SqliteGarden>[] = [
  {
    ...unavailable,
    name: 'a file of libSQL: another process has locked it',
    other: 'harmed',
    provoke: sql('BEGIN IMMEDIATE', 'ROLLBACK'),
    line: /50301 .* SQLITE_BUSY/,
  },
  { ...full, name: 'a file of libSQL: its disk is full', line: /50301 .* (SQLITE_FULL|SQLITE_IOERR)/ },
  {
    ...unusable,
    name: 'a file of libSQL: it was moved',
    async provoke({ folder }) {
      const move = (from: string, to: string) => renameSync(join(folder, from), join(folder, to));
      move('plants.db', 'old.db');
      return () => move('old.db', 'plants.db');
    },
    line: /50004 .*SQLite cannot use its file/,
  },
  { ...unusable, name: 'a file of libSQL: the table is gone', provoke: sql(...rename), line: cannotUse },
  {
    ...unusable,
    name: 'a file of libSQL: a trigger rejects all plants',
    provoke: sql(...rejection),
    line: /50004 .* SQLITE_CONSTRAINT_TRIGGER/,
  },
];

const ofServer: readonly Incident<SqliteGarden>[] = [
  {
    ...unavailable,
    name: 'a server of libSQL: it is stopped',
    async provoke({ server }) {
      await server!.stop();
      return () => server!.start();
    },
    line: /50[03]01 /,
  },
  {
    ...unavailable,
    name: 'a server of libSQL: it is frozen',
    async provoke({ server }) {
      server!.freeze();
      return () => server!.thaw();
    },
    line: /50001 .*did not answer within 10000 ms/,
  },
  {
    ...unavailable,
    name: 'a server of libSQL: the network is down',
    party: 'network',
    async provoke({ doorway }) {
      doorway!.close();
      return () => doorway!.reopen();
    },
    line: /50[03]01 /,
  },
  { ...full, name: 'a server of libSQL: its disk is full', line: /50301 .* SQLITE_(FULL|IOERR)/ },
  { ...unusable, name: 'a server of libSQL: the table is gone', provoke: sql(...rename), line: cannotUse },
];

const ofD1: readonly Incident<SqliteGarden>[] = [
  {
    ...unavailable,
    name: 'D1: it is frozen',
    provoke: freezeWorkerd,
    line: /50001 .*did not answer within 10000 ms/,
  },
  { ...unusable, name: 'D1: the table is gone', provoke: sql(...rename), line: cannotUse },
  {
    ...unusable,
    name: 'D1: a trigger rejects all plants',
    provoke: sql(...rejection),
    // D1 has its code in a text alone.
    line: /50004 .*the database rejects a plant/,
  },
];

export const incidentsOfSqlite: readonly Incident<SqliteGarden>[] = [...ofFile, ...ofServer, ...ofD1];
