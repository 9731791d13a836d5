// What a create may be told while the database, or the way to it, fails: `taken` or a refusal never for a plant that is stored,
// `created` never for one that is not. Storages and recipes run this, each on its own server.
import type { Socket } from 'node:net';
import { createPlantStore, type NewPlant, type PlantStorage } from 'plant-store';
import type { OpenedStorage } from 'plant-store/testing';
import { expect, it, vi } from 'vitest';
import { show } from '../published/trial.js';
import type { Doorway } from '../support/doorway.js';
import { waitFor } from '../support/wait-for.js';
import { context } from './context.js';

/** A storage over an empty table, and its table as SQL names it. */
export interface FaultyTable {
  readonly storage: PlantStorage;
  readonly table: string;
  /** Reads past the storage, and past what fails. */
  readonly peek: (id: bigint) => Promise<NewPlant | undefined>;
}

/** A transaction of the app, past the storage. */
export interface OpenTransaction {
  readonly run: (statement: string) => Promise<unknown>;
  readonly end: (how: 'COMMIT' | 'ROLLBACK') => Promise<unknown>;
}

/** How a database shows what its transactions wait for. */
export interface Locks {
  readonly isWaiting: () => Promise<boolean>;
  /** How many deadlocks the server has ended. */
  readonly deadlocks: () => Promise<number>;
}

export interface FaultyDatabase {
  readonly open: (timeoutMs: number) => Promise<FaultyTable>;
  /** What the storage connects through; absent in a process. */
  readonly doorway?: () => Doorway;
  /** Runs statements past the storage. */
  readonly run: (...statements: string[]) => Promise<unknown>;
  /** Runs a statement in a transaction; absent if the database has none. */
  readonly begin?: (statement: string) => Promise<OpenTransaction>;
  /** Absent if creates cannot deadlock with a transaction: they wait for no lock. */
  readonly locks?: Locks;
  readonly faults: Faults;
  /**
   * Whether the storage says of an error that nothing was stored, and retries what can succeed. Otherwise it may throw whatever the
   * library threw: the outcome is then unknown, which is true of everything.
   */
  readonly isPrecise: boolean;
  /** Faults that a library reports untruly, whatever a bridge does; the page says so. */
  readonly untrue?: readonly string[];
}

/** How a database provokes its faults. */
export interface Faults {
  /** Creates the table. */
  readonly schemaOf: (table: string) => string;
  readonly makeNamesUnique: (table: string) => string;
  /** Lets the first INSERT fail with a code, and the next ones succeed. */
  readonly failOnce: Readonly<Record<string, (table: string) => string[]>>;
  /** Lets the next INSERT fail with a SQLSTATE. */
  readonly fail?: (code: string, table: string) => string[];
  /** Lets an INSERT fail with an error that spells the plant's name in several ways. */
  readonly quote?: (table: string) => string[];
  /** Lets an INSERT with the tag `unknown` fail when it is committed. */
  readonly failAtCommit?: (table: string) => string[];
  /** Whether a transaction locks the rows that it inserts, and no others. */
  readonly locksRows: boolean;
}

/** In the names of the plants that are created. */
const plantNames = /\b(Rosa|Viola|Ilex|rugosa)\b|526f7361|526F7361|Um9zY/;

type Outcome = 'created' | 'taken' | 'refused' | 'unknown';

const saysNothingWasStored = ['RolledBack', 'StorageBusy', 'PlantRefused'];

/** Creates a plant, and returns what the create was told. */
export async function outcomeOf({ storage }: FaultyTable, plant: NewPlant): Promise<Outcome> {
  try {
    return await storage.create(plant, context);
  } catch (error) {
    await expectUnquoted(error, plant);
    return saysNothingWasStored.includes((error as Error).name) ? 'refused' : 'unknown';
  }
}

/** Expects that the default of `onError` writes a line for an error of the storage, and no word of its plants in it. */
async function expectUnquoted(error: unknown, { id, name, tag }: NewPlant): Promise<void> {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {});
  const handle = createPlantStore({ create: () => Promise.reject(error) }, () => true);
  const headers = { authorization: 'Bearer zq7Xm2LwT9vKp4', 'content-type': 'application/json' };
  const body = `{"id":${id},"name":${JSON.stringify(name)}${tag ? `,"tag":${JSON.stringify(tag)}` : ''}}`;
  await handle({ method: 'POST', url: '/plants', headers, body });
  // A message that repeats within a second is counted.
  const lines = written.mock.calls.flat().join('\n');
  written.mockClear();
  expect(lines).not.toMatch(plantNames);
}

const plantOf = (id: number, rest: Partial<NewPlant> = {}): NewPlant => ({
  id: BigInt(id),
  name: `Rosa ${id}`,
  ...rest,
});

/** Creates plants of free ids at once, and expects that what each was told is true. */
export async function createTruly(table: FaultyTable, plants: readonly NewPlant[]): Promise<Outcome[]> {
  const outcomes = await Promise.all(plants.map((plant) => outcomeOf(table, plant)));
  for (const [i, plant] of plants.entries()) {
    const { [i]: outcome } = outcomes;
    if (outcome === 'unknown') continue;
    const stored = await table.peek(plant.id);
    const expected = outcome === 'created' ? show(plant) : 'no plant';
    expect({ outcome, stored: show(stored) }).toEqual({ outcome, stored: expected });
    expect(outcome).not.toBe('taken');
  }
  return outcomes;
}

/**
 * Passes on what the server sends until a plant is stored; ends the connection of a create instead of telling so, once. A pool
 * may open and test further connections meanwhile: theirs are no responses to a create.
 */
export function loseResponse(doorway: Doorway, isStored: () => Promise<boolean>): void {
  let isLost = false;
  const creating = new Set<Socket>();
  doorway.onRequest = (request, client) => {
    if (plantNames.test(request.toString('latin1'))) creating.add(client);
  };
  // One after the other, because to look takes a while.
  let sending = Promise.resolve();
  doorway.onAnswer = (answer, client) => {
    sending = sending.then(async () => {
      if (isLost || !creating.has(client) || !(await isStored())) {
        client.write(answer);
      } else {
        isLost = true;
        client.destroy();
      }
    });
  };
}

/** For `storageCases`: loses the response that comes once the plant of an id is stored. */
export const cutAt =
  (doorway: () => Doorway, peek: FaultyTable['peek']): NonNullable<OpenedStorage<unknown>['cut']> =>
  (id) =>
    loseResponse(doorway(), async () => (await peek(id)) !== undefined);

/** Opens a storage for `storageCases`, with all the faults that this database can have. */
export async function openFaulty(database: FaultyDatabase): Promise<OpenedStorage<unknown>> {
  const { faults, doorway, run } = database;
  const { storage, table, peek } = await database.open(10_000);
  const onAnswer = doorway?.().onAnswer;
  return {
    storage,
    peek,
    caller: undefined,
    makeNamesUnique: () => run(faults.makeNamesUnique(table)),
    cut: doorway && cutAt(doorway, peek),
    fail: faults.fail && ((code) => run(...faults.fail!(code === '23000' ? '23514' : code, table))),
    close() {
      if (doorway) doorway().onAnswer = onAnswer!;
    },
  };
}

/** Declares the faults that this database can have. */
export function itSurvivesFaults(database: FaultyDatabase): void {
  const refused = database.isPrecise ? ['refused'] : ['refused', 'unknown'];
  const retried = database.isPrecise ? ['created'] : ['created', 'refused', 'unknown'];
  const declare = (name: string, run: () => Promise<void>) => {
    if (database.untrue?.includes(name)) it.fails(`${name} (the library makes it impossible)`, run);
    else it(name, run);
  };
  const { faults } = database;

  if (database.doorway) itSurvivesTheNetwork(database.doorway, database.open, declare);

  for (const [name, statementsOf] of Object.entries(faults.failOnce)) {
    declare(`${name}: retried, or told truly`, async () => {
      const table = await database.open(10_000);
      await database.run(...statementsOf(table.table));
      const outcomes = await createTruly(
        table,
        [1, 2, 3].map((id) => plantOf(id)),
      );
      for (const outcome of outcomes) expect(retried).toContain(outcome);
      expect(await createTruly(table, [plantOf(4)])).toEqual(['created']);
    });
  }

  declare('a missing table: refused until it is there', async () => {
    const table = await database.open(10_000);
    expect(await createTruly(table, [plantOf(1)])).toEqual(['created']);
    await database.run(`DROP TABLE ${table.table}`);
    const creating = [2, 3, 4].map((id) => outcomeOf(table, plantOf(id)));
    for (const outcome of await Promise.all(creating)) expect(refused).toContain(outcome);
    await database.run(faults.schemaOf(table.table));
    expect(await createTruly(table, [plantOf(2), plantOf(3)])).toEqual(['created', 'created']);
  });

  declare('a second unique index: its plant is refused, and the others of its batch are stored', async () => {
    const table = await database.open(10_000);
    await database.run(faults.makeNamesUnique(table.table));
    expect(await createTruly(table, [plantOf(1)])).toEqual(['created']);
    const [lone] = await createTruly(table, [plantOf(2, { name: 'Rosa 1' })]);
    expect(refused).toContain(lone);
    // Its message reads like that of a taken id.
    const sly = plantOf(6, { name: "Rosa' for key 'PRIMARY'" });
    expect(await createTruly(table, [sly])).toEqual(['created']);
    expect(refused).toContain((await createTruly(table, [{ ...sly, id: 7n }]))[0]);
    const twin = plantOf(4, { name: 'Rosa 1' });
    const [first, second, third] = await createTruly(table, [plantOf(3), twin, plantOf(5)]);
    expect([first, third]).toEqual(['created', 'created']);
    expect(refused).toContain(second);
  });

  const { quote } = faults;
  if (quote) {
    declare('a trigger that quotes its plant: no line of the log does', async () => {
      const table = await database.open(10_000);
      await database.run(...quote(table.table));
      const plants = [1, 2, 3].map((id) => plantOf(id, { name: `Rosa ${id} "rugosa"` }));
      for (const outcome of await createTruly(table, plants)) expect(refused).toContain(outcome);
      expect(refused).toContain((await createTruly(table, [plants[0]!]))[0]);
    });
  }

  const { failAtCommit } = faults;
  if (failAtCommit) {
    declare(
      'a constraint that fails at COMMIT: its plant is refused, and the others are stored',
      async () => {
        const table = await database.open(10_000);
        await database.run(...failAtCommit(table.table));
        const faulty = (id: number) => plantOf(id, { tag: 'unknown' });
        const [lone] = await createTruly(table, [faulty(1)]);
        expect(refused).toContain(lone);
        const [first, second, third] = await createTruly(table, [plantOf(2), faulty(3), plantOf(4)]);
        expect([first, third]).toEqual(['created', 'created']);
        expect(refused).toContain(second);
      },
    );
  }

  const { begin } = database;
  if (!begin) return;
  for (const [end, expected] of [['COMMIT', 'taken'] as const, ['ROLLBACK', 'created'] as const]) {
    declare(`a row that another transaction holds until its ${end}: ${expected}`, async () => {
      const table = await database.open(10_000);
      expect(await createTruly(table, [plantOf(9)])).toEqual(['created']);
      const { end: finish } = await begin(`INSERT INTO ${table.table} (id, name) VALUES (1, 'Acer')`);
      const waiting = outcomeOf(table, plantOf(1));
      if (faults.locksRows)
        expect(await createTruly(table, [plantOf(2), plantOf(3)])).toEqual(['created', 'created']);
      await finish(end);
      const outcome = await waiting;
      const isTold = database.isPrecise || outcome !== 'unknown';
      expect(isTold ? outcome : await outcomeOf(table, plantOf(1))).toBe(expected);
      const name = end === 'COMMIT' ? 'Acer' : 'Rosa 1';
      expect(await table.peek(1n)).toMatchObject({ name });
    });
  }
  declareRivals(database, begin, declare);
}

/** Declares what happens if creates and a transaction of the app wait for each other. */
function declareRivals(
  { open, isPrecise, locks }: FaultyDatabase,
  begin: NonNullable<FaultyDatabase['begin']>,
  declare: (name: string, run: () => Promise<void>) => void,
): void {
  const held = (table: string, id: number) => `INSERT INTO ${table} (id, name) VALUES (${id}, 'Acer')`;

  declare('creates of one id that wait for a transaction: after its ROLLBACK one is created', async () => {
    const table = await open(10_000);
    expect(await createTruly(table, [plantOf(9)])).toEqual(['created']);
    const rival = await begin(held(table.table, 1));
    const names = ['Rosa', 'Viola', 'Ilex'];
    const waiting = names.map((name) => outcomeOf(table, plantOf(1, { name })));
    await rival.end('ROLLBACK');
    const outcomes = await Promise.all(waiting);
    // InnoDB ends some of them by a deadlock.
    const others = outcomes.filter((outcome) => outcome !== 'created');
    expect(others).toHaveLength(2);
    for (const outcome of others)
      expect(isPrecise ? ['taken'] : ['taken', 'refused', 'unknown']).toContain(outcome);
    expect(await table.peek(1n)).toMatchObject({ name: names[outcomes.indexOf('created')] });
  });

  if (!locks) return;
  declare('a deadlock of a batch with a transaction that locks its rows in the other order', async () => {
    const table = await open(10_000);
    const before = await locks.deadlocks();
    // A busy machine can miss the time in which both wait: the create waits for 250 ms.
    for (let id = 0; id < 100 && (await locks.deadlocks()) === before; id += 5) {
      const rival = await begin(held(table.table, id + 2));
      const creating = [id, id + 1, id + 2].map((each) => outcomeOf(table, plantOf(each)));
      await waitFor(async () => expect(await locks.isWaiting()).toBe(true));
      const isVictim = await rival.run(held(table.table, id + 1)).then(
        () => false,
        () => true,
      );
      await rival.end(isVictim ? 'ROLLBACK' : 'COMMIT');
      const expected = isVictim ? 'created' : 'taken';
      expect(await Promise.all(creating)).toEqual(['created', expected, expected]);
      const name = isVictim ? `Rosa ${id + 2}` : 'Acer';
      expect(await table.peek(BigInt(id + 2))).toMatchObject({ name });
    }
    expect(await locks.deadlocks()).toBeGreaterThan(before);
  });
}

/** Declares what happens if responses are lost. */
export function itSurvivesTheNetwork(
  doorway: () => Doorway,
  open: FaultyDatabase['open'],
  declare: (name: string, run: () => Promise<void>) => void = it,
): void {
  /** Runs a test whose connections may break, and mends them. */
  const broken = (run: () => Promise<void>) => async () => {
    const { onAnswer } = doorway();
    try {
      await run();
    } finally {
      doorway().onAnswer = onAnswer;
    }
  };

  for (const [what, count] of [['a lone plant', 1] as const, ['a batch', 4] as const]) {
    declare(
      `a response that is lost after the COMMIT of ${what}: unknown, and never taken or refused`,
      broken(async () => {
        const table = await open(10_000);
        expect(await createTruly(table, [plantOf(9)])).toEqual(['created']);
        const plants = Array.from({ length: count }, (_, id) => plantOf(id));
        const last = plants.at(-1)!;
        loseResponse(doorway(), async () => (await table.peek(last.id)) !== undefined);
        const outcomes = await createTruly(table, plants);
        // Of one INSERT a plant, another plant's response may be the one that is lost.
        expect(outcomes).toContain('unknown');
        expect(await table.peek(last.id)).toEqual({ tag: undefined, ...last });
        await waitFor(async () => expect(await outcomeOf(table, last)).toBe('taken'));
        expect(await createTruly(table, [plantOf(8)])).toEqual(['created']);
      }),
    );
  }

  declare(
    'an outage: nothing is created untruly, and plants are created after it',
    broken(async () => {
      const table = await open(500);
      let id = 10;
      // A busy machine may need longer than the timeout, here and for a login after the outage.
      const works = () =>
        waitFor(async () => expect(await createTruly(table, [plantOf(id++)])).toEqual(['created']));
      await works();
      const { onAnswer } = doorway();
      doorway().onAnswer = (_, client) => void client.destroy();
      expect(
        await createTruly(
          table,
          [1, 2, 3].map((id) => plantOf(id)),
        ),
      ).not.toContain('created');
      expect(await createTruly(table, [plantOf(4)])).not.toContain('created');
      doorway().onAnswer = onAnswer;
      await works();
    }),
  );
}
