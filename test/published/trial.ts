import type { MaybePromise, NewPlant, PlantStorage, StorageContext } from '../../src/index.js';

/** A storage under test, and a way to look behind it. */
export interface OpenedStorage<Caller> {
  /** Holds no plants yet. */
  readonly storage: PlantStorage<Caller>;
  /** The caller that creates the plants. */
  readonly caller: Caller;
  /** Reads the stored plant without the storage, for example by SQL on another connection. */
  readonly peek: (id: bigint) => MaybePromise<NewPlant | undefined>;
  /** Another caller, if each caller has its own ids; `peek` reads that caller's plants. */
  readonly other?: Pick<OpenedStorage<Caller>, 'caller' | 'peek'> | undefined;
  /**
   * Makes names unique in the database, as `CREATE UNIQUE INDEX … ON plants (name)` does; absent if it cannot. The case
   * `second-unique-column` calls it before it creates plants.
   */
  readonly makeNamesUnique?: (() => MaybePromise<unknown>) | undefined;
  /**
   * Loses the response to the next create of this id: the database stores the plant, and the connection ends before the storage
   * hears of it. Absent if it cannot.
   */
  readonly cut?: ((id: bigint) => MaybePromise<unknown>) | undefined;
  /**
   * Lets the database fail the next INSERT, once, by what it has for this SQLSTATE, and store nothing of it. `40001` is a
   * serialization failure, after which a retry succeeds; `23000` is a constraint that rejects the plant. Absent if it cannot.
   */
  readonly fail?: ((code: '40001' | '23000') => MaybePromise<unknown>) | undefined;
  /** Releases the resources of `open`. */
  readonly close?: (() => MaybePromise<void>) | undefined;
}

/** Thrown by a case that needs what `open` does not give. */
export class Skipped extends Error {}

/** The errors by which a storage says that nothing was stored. */
const sayNothingWasStored = ['PlantRefused', 'RolledBack', 'StorageBusy'];

/** A storage, with the steps of the cases. */
export class Trial {
  readonly #opened: OpenedStorage<unknown>;

  constructor(opened: OpenedStorage<unknown>) {
    this.#opened = opened;
  }

  /** The same storage as the other caller uses it. */
  get other(): Trial {
    const { storage } = this.#opened;
    return new Trial({ storage, ...this.#given('other') });
  }

  async makeNamesUnique(): Promise<void> {
    await this.#given('makeNamesUnique')();
  }

  async cut(id: bigint): Promise<void> {
    await this.#given('cut')(id);
  }

  async fail(code: '40001' | '23000'): Promise<void> {
    await this.#given('fail')(code);
  }

  create(plant: NewPlant, signal: AbortSignal = new AbortController().signal): Promise<'created' | 'taken'> {
    return this.#opened.storage.create(plant, this.#context(signal));
  }

  /** The stored plant as `find` returns it; `'no find'` if the storage has no `find`. */
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

  /** Expects that the storage throws, and stores nothing. */
  async expectRejected(plant: NewPlant): Promise<void> {
    const outcome = await this.create(plant).catch(() => 'rejected');
    expectSame(outcome, 'rejected', `create of the free id ${plant.id}`);
    expectSame(await this.has(plant.id), false, `whether the rejected plant ${plant.id} is stored`);
  }

  /** Expects that what a create of a free id returns or throws is true. */
  async expectTrue(plant: NewPlant): Promise<void> {
    const outcome = await this.create(plant).catch((error) =>
      sayNothingWasStored.includes(Object(error).name) ? 'nothing was stored' : 'unknown',
    );
    // It may be stored or not.
    if (outcome === 'unknown') return;
    const expected = (await this.has(plant.id)) ? 'created' : 'nothing was stored';
    expectSame(outcome, expected, `create of the free id ${plant.id}`);
    if (outcome === 'created') await this.expectStored(plant);
  }

  async expectStored(plant: NewPlant): Promise<void> {
    expectSame(show(await this.#opened.peek(plant.id)), show(plant), `what landed under id ${plant.id}`);
  }

  /** Whether a plant with this id is stored. */
  async has(id: bigint): Promise<boolean> {
    return (await this.#opened.peek(id)) !== undefined;
  }

  /** @throws {Skipped} if `open` does not give it */
  #given<Name extends 'other' | 'makeNamesUnique' | 'cut' | 'fail'>(name: Name) {
    const { [name]: given } = this.#opened;
    if (!given) throw new Skipped(`open() gives no ${name}`);
    return given as NonNullable<OpenedStorage<unknown>[Name]>;
  }

  #context(signal: AbortSignal): StorageContext<unknown> {
    const request = { method: 'POST', url: '/plants', headers: {} };
    return { caller: this.#opened.caller, request, signal };
  }
}

/** A plant as text. A tag that is `undefined` counts as absent; an empty tag does not. */
export function show(plant: NewPlant | undefined): string {
  if (!plant) return 'no plant';
  const { id, name, tag } = plant;
  const members: Record<keyof NewPlant, string> = {
    id: typeof id === 'bigint' ? `${id}n` : `${typeof id} ${id}`,
    name: JSON.stringify(name),
    tag: tag === undefined ? 'absent' : JSON.stringify(tag),
  };
  const shown = Object.entries(members).map((member) => member.join(': '));
  return `{ ${shown.join(', ')} }`;
}

export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (actual === expected) return;
  throw new Error(`${what}: expected ${brief(expected)}, got ${brief(actual)}`);
}

function brief(value: unknown): string {
  const text = String(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

export function count(outcomes: readonly string[], outcome: string): number {
  return outcomes.filter((one) => one === outcome).length;
}

export const int64Max = 2n ** 63n - 1n;
export const int64Min = -(2n ** 63n);

/** Texts that databases are known to change. */
export const texts = [
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
