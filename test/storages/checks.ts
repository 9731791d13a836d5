// Tables that apps have, and what `check()` has to say of each: it passes if and only if creates with and without a tag work there, and
// leaves nothing behind. The kinds are in `checks-*.ts`, the databases in `checks.heavy.ts`.
import { isDeepStrictEqual } from 'node:util';
import { type NewPlant, StorageBusy, type StorageContext } from 'plant-store';
import { describe, expect, it } from 'vitest';
import { contextOf } from './context.js';

/** Which plants a table takes, of one with a tag and one without. */
export type Creates = 'both' | 'tagged' | 'untagged' | 'neither';

export type Database = 'postgres' | 'mariadb' | 'sqlite';

/** What a kind gives the storage. */
export interface KindOptions {
  readonly table?: string;
  readonly names?: { readonly id?: string; readonly name?: string; readonly tag?: string };
  readonly namespace?: { readonly [column: string]: (context: StorageContext<Caller>) => string | bigint };
  readonly columns?: { readonly [column: string]: (context: StorageContext<Caller>) => string | Date };
}

interface Caller {
  readonly tenant: string;
  readonly user: string;
}

/** A kind of table, by the statements that make it on each database that has it. */
export interface TableKind extends Partial<Readonly<Record<Database, string>>> {
  /** The first version of PostgreSQL that has it. */
  readonly since?: number;
  /** Default: both. */
  readonly creates?: Creates | Partial<Readonly<Record<Database, Creates>>>;
  readonly options?: KindOptions;
  /** A plant with a tag and one without, where the usual ones do not do. */
  readonly plants?: readonly [GivenPlant, GivenPlant];
  /** Whether the app's rules accept no plant that plant-store can invent: it has to be given one. */
  readonly acceptsOnlyOwn?: boolean;
  /** The table and its columns for 1000 rows, in each of which all values are its number. Default: a plain table, if it takes plants. */
  readonly filled?: string | false;
  /** What each connection of the storage runs first. */
  readonly session?: Partial<Readonly<Record<Database, string>>>;
  /** The storage connects as the user `app`, and not as the owner. */
  readonly isOfUser?: boolean;
  /** What the app has to be able to do after the check. */
  readonly afterwards?: string;
}

/** A kind that is the same on each database. */
export const every = (sql: string): TableKind => ({ postgres: sql, mariadb: sql, sqlite: sql });

export type TableKinds = Readonly<Record<string, TableKind>>;

type GivenPlant = Omit<NewPlant, 'id'> & { readonly id?: bigint };

interface Trial {
  readonly plant?: GivenPlant;
  readonly context?: StorageContext<Caller>;
}

/** A table that was made. */
export interface OpenTable {
  /** Another storage on the connections of the app. */
  storage(): {
    readonly create: (plant: NewPlant, context: StorageContext<never>) => Promise<unknown>;
    readonly check: (trial?: never) => Promise<unknown>;
  };
  /** Runs statements of the app. */
  run(sql: string): Promise<unknown>;
  /** The rows of all tables. */
  stored(): Promise<unknown>;
}

export const plants: readonly [GivenPlant, GivenPlant] = [
  { name: 'Rosa canina', tag: 'climber' },
  { name: 'Acer' },
];

export const context = contextOf<Caller>({ tenant: 'garden', user: 'Ada' });

/** The INSERT of a thousand rows. */
const fillings: Readonly<Record<Database, (into: string, values: string) => string>> = {
  postgres: (into, values) => `INSERT INTO ${into} SELECT ${values} FROM generate_series(1, 1000) AS n`,
  mariadb: (into, values) =>
    `INSERT INTO ${into} SELECT ${values} FROM (SELECT seq AS n FROM seq_1_to_1000) AS numbers`,
  sqlite: (into, values) =>
    `WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
INSERT INTO ${into} SELECT ${values} FROM numbers`,
};

function fillingOf(database: Database, { filled }: TableKind, creates: Creates): string | undefined {
  const into = filled ?? (creates === 'neither' ? false : 'plants (id, name, tag)');
  return into
    ? fillings[database](into, into.replace(/^.*\(|\)$/g, '').replaceAll(/[^,]+/g, 'n'))
    : undefined;
}

const isAccepted = (creates: Creates) => [
  ['both', 'tagged'].includes(creates),
  ['both', 'untagged'].includes(creates),
];

const untilError = (task: Promise<unknown>) =>
  task.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Expects that an error of `check` says what needs a change. */
export function expectSentence(error: unknown, table = 'plants'): void {
  expect(error).toBeInstanceOf(Error);
  expect(error, String(error)).not.toBeInstanceOf(StorageBusy);
  expect((error as Error).message).toContain(table);
  expect((error as Error).message).not.toContain('\n');
}

/** Checks a table, expects that nothing of it is left, and returns why it was refused. */
async function checked(table: OpenTable, kind: TableKind, trial: Trial): Promise<string | undefined> {
  const before = await table.stored();
  const error = await untilError(table.storage().check(trial as never));
  expect(await table.stored()).toEqual(before);
  if (!error) return undefined;
  expectSentence(error, kind.options?.table?.split('.').at(-1));
  return (error as Error).message;
}

async function expectTruth(table: OpenTable, kind: TableKind, creates: Creates): Promise<void> {
  const works = isAccepted(creates);
  const passes = !works.includes(false) && !kind.acceptsOnlyOwn;
  const refusal = (isPassed: boolean | undefined) => (isPassed ? undefined : expect.any(String));
  const told = {
    invented: await checked(table, kind, { context }),
    given: [] as unknown[],
    created: [] as unknown[],
    stored: [] as unknown[],
  };
  for (const [i, plant] of (kind.plants ?? plants).entries()) {
    told.given.push(await checked(table, kind, { plant, context }));
    const before = await table.stored();
    const creating = table.storage().create({ id: BigInt(2001 + i), ...plant }, context as never);
    told.created.push(await creating.catch(String));
    told.stored.push(!isDeepStrictEqual(await table.stored(), before));
  }
  expect(told).toEqual({
    invented: refusal(passes),
    given: works.map(refusal),
    created: works.map((isCreated) => (isCreated ? 'created' : expect.not.stringMatching(/^created$/))),
    stored: works,
  });
  if (kind.afterwards) await table.run(kind.afterwards);
}

/** @param open makes a table, after whatever an earlier test has made; `undefined` if this version of the database cannot */
export function itChecksAsItCreates(
  database: Database,
  kinds: TableKinds,
  open: (kind: TableKind, statements: string) => Promise<OpenTable | undefined>,
): void {
  const own = Object.entries(kinds).filter(([, kind]) => kind[database] !== undefined);
  const cases = own.flatMap(([title, kind]) => {
    const of = typeof kind.creates === 'object' ? kind.creates[database] : kind.creates;
    const creates = of ?? 'both';
    const filling = fillingOf(database, kind, creates);
    const fillings = filling === undefined ? [''] : ['', filling];
    return fillings.map((fill) => {
      const statements = [kind[database]!.replace(/;$/, ''), fill].filter(Boolean).join(';\n');
      return [`${title}${fill && ', with 1000 rows'}: ${creates}`, { kind, creates, statements }] as const;
    });
  });
  describe('check passes if and only if creates with and without a tag work, and leaves nothing behind', () => {
    it.for(cases)('%s', async ([, { kind, creates, statements }], { skip }) => {
      const table = await open(kind, statements);
      if (!table) return skip('the database has no such table');
      await expectTruth(table, kind, creates);
    });
  });
}
