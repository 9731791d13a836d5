// An error that a trigger raises for one plant, with a code of the server, is that plant's: others are stored meanwhile.
import type { BatchReport, GroupCommitStorage, NewPlant, PlantStorage } from 'plant-store';
import { expect } from 'vitest';
import { deferred } from '../support/deferred.js';
import { context } from './context.js';

/** The SQLSTATEs of appendix A of PostgreSQL's manual that a function can raise, and codes of an app. */
export const sqlStates =
  `03000 08000 08003 08006 08001 08004 08007 08P01 09000 0A000 0B000 0F000 0F001 0L000 0LP01 0P000 0Z000 0Z002 20000 21000
  22000 22001 22003 22004 22007 22008 22012 22023 22026 22P02 22P03 23000 23001 23502 23503 23505 23514 23P01 24000 25000 25001 25006
  25P01 25P02 25P03 25P04 26000 27000 28000 28P01 2B000 2BP01 2D000 2F000 34000 38000 39000 39P01 3B000 3B001 3D000 3F000 40000 40002
  40001 40003 40P01 42000 42601 42501 42P10 42P01 42703 42704 42883 42P02 428C9 44000 53000 53100 53200 53300 53400 54000 55000 55006
  55P02 55P03 57000 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01 F0000 F0001 HV000 P0000 P0001 P0002 XX000 XX001 XX002
  GA001 ZZ999`.split(/\s+/);

/** Numbers of errors of MariaDB and MySQL that stand for an outage, a lock, a login, a table, or a proxy. */
export const errorNumbers = [
  403, 999, 1020, 1021, 1040, 1044, 1045, 1047, 1049, 1053, 1054, 1062, 1064, 1105, 1114, 1130, 1142, 1143,
  1146, 1153, 1180, 1181, 1196, 1203, 1205, 1213, 1226, 1290, 1317, 1364, 1461, 1644, 1698, 1792, 1836, 1927,
  1969, 3024, 3101, 4031, 8000, 8022, 9001, 9007, 9999, 30001,
];

type Storage = GroupCommitStorage<unknown> & { readonly find: NonNullable<PlantStorage<unknown>['find']> };

interface Opened {
  /** A table whose trigger raises the code that the tag of a plant has, if it has one. */
  open(options: { timeoutMs: number; onBatch: (batch: BatchReport) => void }): Storage;
  readonly codes: readonly string[];
}

interface Locked {
  open(options: { timeoutMs: number; onBatch: (batch: BatchReport) => void }): GroupCommitStorage<unknown>;
  /** Locks the whole table, as a backup does, and returns what unlocks it. */
  lock(): Promise<() => Promise<unknown>>;
}

/** A lock of the whole table is no lock of each row: few statements find out when it is over, and then all are stored. */
export async function expectFewProbes({ open, lock }: Locked): Promise<void> {
  let calls = 0;
  const unlocked = deferred<void>();
  const storage = open({
    timeoutMs: 60_000,
    onBatch: ({ end }) => {
      if (end === 'locked' && ++calls === 20) unlocked.resolve();
    },
  });
  await storage.create({ id: 0n, name: 'Rosa' }, context);
  const unlock = await lock();
  const start = performance.now();
  const creates = Array.from({ length: 1_000 }, (_, i) =>
    storage.create({ id: BigInt(i + 1), name: 'Rosa' }, context),
  );
  await unlocked.promise;
  // The first four at once, then one after each 100 ms.
  expect(performance.now() - start).toBeGreaterThan(1_500);
  await unlock();
  expect(new Set(await Promise.all(creates))).toEqual(new Set(['created']));
}

const clients = 16;

/** Sixteen clients create plants all the time, and another one after the other that the trigger rejects. */
export async function expectOnlyItsPlant({ open, codes }: Opened): Promise<void> {
  const batches: BatchReport[] = [];
  const storage = open({ timeoutMs: 3_000, onBatch: (batch) => void batches.push(batch) });
  let id = 0n;
  const create = (more: Partial<NewPlant> = {}) =>
    storage.create({ id: ++id, name: 'Rosa', ...more }, context);
  let isOver = false;
  const client = async () => {
    const outcomes = new Set<unknown>();
    while (!isOver) outcomes.add(await create().catch((error) => error));
    return [...outcomes];
  };
  const good = Array.from({ length: clients }, client);
  const bad = new Map<string, unknown>();
  const rejected: Promise<unknown>[] = [];
  const ids: bigint[] = [];
  for (const code of codes) {
    const settle = (outcome: unknown) => bad.set(code, outcome);
    rejected.push(create({ tag: code }).then(settle, settle));
    ids.push(id);
    // So that each comes into another batch.
    await create();
  }
  await Promise.all(rejected);
  isOver = true;
  expect((await Promise.all(good)).flat()).toEqual(good.map(() => 'created'));
  // Nothing of them is stored, and they are told so; or that their time was over, if that came while a retry was sent.
  const toldOf = (code: string) => (bad.get(code) as Error).name;
  const told = codes.map((code) => `${code} ${toldOf(code)}`);
  expect(told.filter((text) => !/ (RolledBack|StorageBusy|TimeoutError)$/.test(text))).toEqual([]);
  for (const stored of await Promise.all(ids.map((one) => storage.find(one, context))))
    expect(stored).toBeUndefined();
  expect(batches.filter(({ isOpen }) => isOpen)).toEqual([]);
  const timedOut = codes.filter((code) => toldOf(code) === 'TimeoutError');
  // Two of them may be in one call.
  expect(batches.filter(({ end }) => end === 'unknown').length).toBeLessThanOrEqual(timedOut.length);
}
