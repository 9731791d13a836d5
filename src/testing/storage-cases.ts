import type { MaybePromise, NewPlant, PlantStorage, StorageContext } from '../index.js';

/** A storage under test, and a way to look behind it. */
export interface OpenedStorage<Caller> {
  /** Holds no plants yet. */
  readonly storage: PlantStorage<Caller>;
  /** Who creates the plants. */
  readonly caller: Caller;
  /** Reads what really landed, by another way than the storage: SQL on another connection, say. */
  readonly peek: (id: bigint) => MaybePromise<NewPlant | undefined>;
  /** Lets go of what `open` made. */
  readonly close?: (() => MaybePromise<void>) | undefined;
}

/** One promise of `PlantStorage`, as a check for any test runner. */
export interface StorageCase {
  /** Never changes, so that a case can be named in a list of exceptions. */
  readonly id: string;
  readonly name: string;
  /** Rejects, with what was expected and what came, where the storage breaks the promise. */
  readonly run: () => Promise<void>;
}

/**
 * The promises of `PlantStorage` as checks to run against a storage of one's own, with any test runner.
 *
 * @param open makes a storage without plants; called once a case
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 *
 * const open = () => {
 *   const plants = new Map<bigint, NewPlant>();
 *   return { storage: memoryStorage(plants), caller: undefined, peek: (id: bigint) => plants.get(id) };
 * };
 * for (const { id, name, run } of storageCases(open)) test(`${id}: ${name}`, run);
 * ```
 */
export function storageCases<Caller>(open: () => MaybePromise<OpenedStorage<Caller>>): StorageCase[] {
  return cases.map(({ id, name, check }) => ({
    id,
    name,
    async run() {
      const opened = await open();
      try {
        await check(new Trial(opened as OpenedStorage<unknown>));
      } finally {
        await opened.close?.();
      }
    },
  }));
}

/** A storage with the questions that the cases ask it. */
class Trial {
  readonly #opened: OpenedStorage<unknown>;

  constructor(opened: OpenedStorage<unknown>) {
    this.#opened = opened;
  }

  create(plant: NewPlant, signal: AbortSignal = new AbortController().signal): Promise<'created' | 'taken'> {
    return this.#opened.storage.create(plant, this.#context(signal));
  }

  /** The stored plant as `find` has it; `'no find'` where the storage has none. */
  async find(id: bigint): Promise<NewPlant | undefined | 'no find'> {
    const { storage } = this.#opened;
    return storage.find ? storage.find(id, this.#context(new AbortController().signal)) : 'no find';
  }

  async expectCreated(plant: NewPlant): Promise<void> {
    expectSame(await this.create(plant), 'created', `create of the free id ${plant.id}`);
    await this.expectStored(plant);
  }

  async expectTaken(plant: NewPlant): Promise<void> {
    expectSame(await this.create(plant), 'taken', `create of the taken id ${plant.id}`);
  }

  async expectStored(plant: NewPlant): Promise<void> {
    expectSame(show(await this.#opened.peek(plant.id)), show(plant), `what landed under id ${plant.id}`);
  }

  /** Whether a plant of this id landed. */
  async has(id: bigint): Promise<boolean> {
    return (await this.#opened.peek(id)) !== undefined;
  }

  #context(signal: AbortSignal): StorageContext<unknown> {
    const request = { method: 'POST', url: '/plants', headers: {} };
    return { caller: this.#opened.caller, request, signal };
  }
}

/** What a plant is, to the last bit of its id: `undefined` and an absent tag alike, an empty one not. */
function show(plant: NewPlant | undefined): string {
  if (!plant) return 'no plant';
  const { id, name, tag } = plant;
  const shown = typeof id === 'bigint' ? `${id}n` : `${typeof id} ${id}`;
  return `{ id: ${shown}, name: ${JSON.stringify(name)}, tag: ${tag === undefined ? 'absent' : JSON.stringify(tag)} }`;
}

function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (actual === expected) return;
  throw new Error(`${what}: expected ${brief(expected)}, got ${brief(actual)}`);
}

function brief(value: unknown): string {
  const text = String(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

function count(outcomes: readonly string[], outcome: string): number {
  return outcomes.filter((one) => one === outcome).length;
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

const texts = [
  '',
  ' leading and trailing ',
  'line\nfeed\r\nand\ttab',
  `'; DROP TABLE plants; -- " \` \\ % _ $1 ? :id {} []`,
  '\\x00 \\u0000 \\N NULL null',
  'é as one character, e\u0301 as two',
  'Роза 玫瑰 バラ وردة ורד',
  '\u{1F339}\u{1F468}\u200D\u{1F33E}\u{10FFFF}',
  '\u0001\u001f\u007f\u0085\u2028\u2029\ufeff\uffff',
];

interface Case {
  readonly id: string;
  readonly name: string;
  readonly check: (trial: Trial) => Promise<void>;
}

const cases: readonly Case[] = [
  {
    id: 'created-lands',
    name: 'what was created is there at once, as it was given',
    async check(trial) {
      for (let id = 1n; id <= 20n; id++) await trial.expectCreated({ id, name: `Rosa ${id}`, tag: 'shrub' });
    },
  },
  {
    id: 'taken-changes-nothing',
    name: 'a second create of an id is taken, and the first plant stays as it was',
    async check(trial) {
      const first = { id: 7n, name: 'first', tag: 'kept' };
      await trial.expectCreated(first);
      await trial.expectTaken({ id: 7n, name: 'second' });
      await trial.expectStored(first);
      await trial.expectTaken(first);
      await trial.expectStored(first);
    },
  },
  {
    id: 'int64-edges',
    name: 'ids are the whole of int64',
    async check(trial) {
      for (const id of [int64Min, int64Min + 1n, -1n, 0n, 1n, 2n ** 31n, int64Max - 1n, int64Max]) {
        await trial.expectCreated({ id, name: `plant ${id}` });
        await trial.expectTaken({ id, name: 'another' });
      }
    },
  },
  {
    id: 'int64-neighbours',
    name: 'neighbours beyond 2^53 are two plants',
    async check(trial) {
      const plants = [
        2n ** 53n,
        2n ** 53n + 1n,
        -(2n ** 53n),
        -(2n ** 53n) - 1n,
        int64Max - 1n,
        int64Max,
      ].map((id) => ({ id, name: `plant ${id}` }));
      for (const plant of plants) await trial.expectCreated(plant);
      for (const plant of plants) await trial.expectStored(plant);
    },
  },
  {
    id: 'unicode',
    name: 'text comes back character for character',
    async check(trial) {
      let id = 0n;
      for (const text of texts) {
        await trial.expectCreated({ id: id++, name: text, tag: 'as a name' });
        await trial.expectCreated({ id: id++, name: 'as a tag', tag: text });
      }
      await Promise.all(
        texts.map((text, i) => trial.expectCreated({ id: id + BigInt(i), name: text, tag: text })),
      );
    },
  },
  {
    id: 'tag-absent-or-empty',
    name: 'no tag and an empty tag are two things',
    async check(trial) {
      await trial.expectCreated({ id: 1n, name: 'without' });
      await trial.expectCreated({ id: 2n, name: 'empty', tag: '' });
      await trial.expectCreated({ id: 3n, name: 'undefined', tag: undefined });
    },
  },
  {
    id: 'long-text',
    name: 'a text of 500 000 characters lands whole, or is refused by an error; it takes no other plant with it',
    async check(trial) {
      const long = { id: 1n, name: 'r\u00f8se '.repeat(100_000), tag: 'x' };
      const neighbours = [2n, 3n, 4n].map((id) => ({ id, name: 'short' }));
      const [outcome] = await Promise.all([
        trial.create(long).catch(() => 'refused'),
        ...neighbours.map((plant) => trial.expectCreated(plant)),
      ]);
      if (outcome !== 'refused') {
        expectSame(outcome, 'created', 'create of a long text');
        await trial.expectStored(long);
      } else expectSame(await trial.has(1n), false, 'whether a refused plant landed');
    },
  },
  {
    id: 'race',
    name: 'of 32 racing creates of one id exactly one is created, and its plant is what landed',
    async check(trial) {
      for (let id = 1n; id <= 8n; id++) {
        const plants = Array.from({ length: 32 }, (_, i) => ({ id, name: `racer ${i}` }));
        const outcomes = await Promise.all(plants.map((plant) => trial.create(plant)));
        expectSame(count(outcomes, 'created'), 1, 'how many racers were told created');
        expectSame(count(outcomes, 'taken'), 31, 'how many racers were told taken');
        await trial.expectStored(plants[outcomes.indexOf('created')]!);
      }
    },
  },
  {
    id: 'taken-is-stored',
    name: 'whoever is told taken finds a plant there',
    async check(trial) {
      const tellings = Array.from({ length: 16 }, async (_, i) => {
        const id = BigInt(i % 4);
        if ((await trial.create({ id, name: `teller ${i}` })) === 'taken') {
          expectSame(await trial.has(id), true, `whether id ${id}, told taken, is stored`);
        }
      });
      await Promise.all(tellings);
    },
  },
  {
    id: 'many-at-once',
    name: '1 000 concurrent creates, every fourth of an id that another creates too, land as they were answered',
    async check(trial) {
      const plants = Array.from({ length: 1000 }, (_, i) => ({
        id: BigInt(i % 4 === 3 ? i - 1 : i) * 9_007_199_254_740_993n,
        name: `plant ${i}`,
        ...(i % 3 === 0 && { tag: `tag ${i}` }),
      }));
      const outcomes = await Promise.all(plants.map((plant) => trial.create(plant)));
      expectSame(count(outcomes, 'created'), 750, 'how many were told created');
      expectSame(count(outcomes, 'taken'), 250, 'how many were told taken');
      for (const [i, plant] of plants.entries())
        if (outcomes[i] === 'created') await trial.expectStored(plant);
    },
  },
  {
    id: 'abort',
    name: 'a create whose client goes away ends, tells no lie, and takes no other with it',
    async check(trial) {
      const gone = new AbortController();
      const early = trial.create({ id: 1n, name: 'gone before' }, AbortSignal.abort()).catch(() => 'gave up');
      const late = trial.create({ id: 2n, name: 'gone meanwhile' }, gone.signal).catch(() => 'gave up');
      const neighbour = trial.expectCreated({ id: 3n, name: 'still here' });
      gone.abort();
      await neighbour;
      for (const [id, outcome] of [[1n, await early] as const, [2n, await late] as const]) {
        if (outcome !== 'gave up') {
          expectSame(outcome, 'created', `aborted create of the free id ${id}`);
          expectSame(await trial.has(id), true, `whether id ${id}, told created, is stored`);
        }
      }
    },
  },
  {
    id: 'find',
    name: 'find, where there is one, gives the stored plant exactly, and undefined for a free id',
    async check(trial) {
      if ((await trial.find(1n)) === 'no find') return;
      const plants = [
        { id: int64Min, name: texts.join(' '), tag: texts.join('|') },
        { id: 2n ** 53n, name: '' },
        { id: 2n ** 53n + 1n, name: 'empty tag', tag: '' },
      ];
      for (const plant of plants) await trial.expectCreated(plant);
      for (const plant of plants) {
        expectSame(show((await trial.find(plant.id)) as NewPlant), show(plant), `find of id ${plant.id}`);
      }
      expectSame(show((await trial.find(int64Max)) as undefined), 'no plant', 'find of a free id');
    },
  },
];
