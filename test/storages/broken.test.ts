import { groupCommit, type NewPlant, PlantRefused, type PlantStorage, RolledBack } from 'plant-store';
import { storageCases } from 'plant-store/testing';
import { describe, expect, it } from 'vitest';

type Plants = Map<bigint, NewPlant>;

/** Two immediates: between them the loop delivers the messages that were sent before. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Storages that each break one promise, and the cases that must catch them. */
const broken: [hazard: string, caughtBy: string[], create: (plants: Plants) => PlantStorage['create']][] = [
  [
    'looks first and inserts later',
    ['race', 'many-at-once'],
    (plants) => async (plant) => {
      const taken = plants.has(plant.id);
      await turn();
      if (taken) return 'taken';
      plants.set(plant.id, plant);
      return 'created';
    },
  ],
  [
    'overwrites (an upsert)',
    ['taken-changes-nothing', 'race'],
    (plants) => async (plant) => {
      const taken = plants.has(plant.id);
      plants.set(plant.id, plant);
      return taken ? 'taken' : 'created';
    },
  ],
  [
    'turns ids into numbers',
    ['int64-edges', 'int64-neighbours'],
    storing((plant) => ({ ...plant, id: BigInt(Number(plant.id)) })),
  ],
  [
    'swallows an error of the database and returns created',
    ['long-text', 'taken-changes-nothing'],
    taking('created'),
  ],
  ['takes every error of the database for a taken id', ['long-text'], taking('taken')],
  [
    'returns created for the wrong one of two racing creates',
    ['race', 'many-at-once'],
    (plants) => {
      const arrived = new Map<bigint, number>();
      return async (plant) => {
        const place = (arrived.get(plant.id) ?? 0) + 1;
        arrived.set(plant.id, place);
        if (!plants.has(plant.id)) plants.set(plant.id, plant);
        await turn();
        const racers = arrived.get(plant.id);
        return place === racers && (place > 1 || plants.get(plant.id) === plant) ? 'created' : 'taken';
      };
    },
  ],
  [
    'returns created before it has committed',
    ['created-lands'],
    (plants) => async (plant) => {
      if (plants.has(plant.id)) return 'taken';
      turn().then(() => plants.set(plant.id, plant));
      return 'created';
    },
  ],
  [
    'returns taken while the plant is not committed yet',
    ['taken-is-stored'],
    (plants) => {
      const reserved = new Set<bigint>();
      return async (plant) => {
        if (reserved.has(plant.id)) return 'taken';
        reserved.add(plant.id);
        await turn();
        plants.set(plant.id, plant);
        return 'created';
      };
    },
  ],
  [
    'stores an absent tag as an empty tag',
    ['tag-absent-or-empty'],
    storing((plant) => ({ ...plant, tag: plant.tag ?? '' })),
  ],
  [
    'stores an empty tag as an absent tag',
    ['tag-absent-or-empty'],
    storing(({ id, name, tag }) => (tag ? { id, name, tag } : { id, name })),
  ],
  ['drops a member', ['created-lands', 'every-member'], storing(({ id, name }) => ({ id, name }))],
  ['trims text', ['unicode'], storing((plant) => ({ ...plant, name: plant.name.trim() }))],
  ['normalizes text', ['unicode'], storing((plant) => ({ ...plant, name: plant.name.normalize('NFC') }))],
  [
    'loses characters beyond the BMP',
    ['unicode'],
    storing((plant) => ({ ...plant, name: plant.name.replace(/[\u{10000}-\u{10ffff}]/gu, '?') })),
  ],
  [
    'rejects a long text, and stores its beginning',
    ['long-text'],
    (plants) => async (plant) => {
      if (plants.has(plant.id)) return 'taken';
      plants.set(plant.id, { ...plant, name: plant.name.slice(0, 65_535) });
      if (plant.name.length > 65_535) throw new RolledBack('rejected', new Error('too long'));
      return 'created';
    },
  ],
  ['cuts long text', ['long-text'], storing((plant) => ({ ...plant, name: plant.name.slice(0, 65_535) }))],
  [
    'fails a whole batch because it rejects one plant',
    ['long-text'],
    (plants) =>
      groupCommit((batch) => {
        if (batch.some(({ name }) => name.length > 1000)) throw new PlantRefused('too long');
        return batch.map((plant) => {
          if (plants.has(plant.id)) return 'taken';
          plants.set(plant.id, plant);
          return 'created';
        });
      }).create,
  ],
  [
    'returns created without storing, because the client disconnected',
    ['abort'],
    (plants) =>
      async (plant, { signal }) => {
        if (plants.has(plant.id)) return 'taken';
        if (!signal.aborted) plants.set(plant.id, plant);
        return 'created';
      },
  ],
  [
    'fails other creates when one client disconnects',
    ['abort'],
    (plants) => {
      let gone = false;
      return async (plant, { signal }) => {
        gone ||= signal.aborted;
        await turn();
        if (gone) throw new Error('the connection was closed');
        if (plants.has(plant.id)) return 'taken';
        plants.set(plant.id, plant);
        return 'created';
      };
    },
  ],
];

/** Inserts into a database that limits the length of a name, and returns this outcome after every error. */
function taking(outcome: 'created' | 'taken'): (plants: Plants) => PlantStorage['create'] {
  return (plants) => async (plant) => {
    if (plant.name.length > 10_000 || plants.has(plant.id)) return outcome;
    plants.set(plant.id, plant);
    return 'created';
  };
}

function storing(kept: (plant: NewPlant) => NewPlant): (plants: Plants) => PlantStorage['create'] {
  return (plants) => async (plant) => {
    const stored = kept(plant);
    if (plants.has(stored.id)) return 'taken';
    plants.set(stored.id, stored);
    return 'created';
  };
}

/** Keys by tenant, but groups creates as if all tenants shared their ids. */
const withoutNamespace = {
  open() {
    const plants = new Map<string, NewPlant>();
    const storage = groupCommit<string>((batch, contexts) =>
      batch.map((plant, i) => {
        const key = `${contexts[i]!.caller} ${plant.id}`;
        if (plants.has(key)) return 'taken';
        plants.set(key, plant);
        return 'created';
      }),
    );
    const peekAs = (caller: string) => ({ caller, peek: (id: bigint) => plants.get(`${caller} ${id}`) });
    return { storage, ...peekAs('garden'), other: peekAs('park') };
  },
  caughtBy: ['namespaces'],
};

/** Tells each tenant its own outcome, and keeps one plant of an id for all. */
const oneForAllTenants = {
  open() {
    const plants: Plants = new Map();
    const told = new Set<string>();
    const create = async (plant: NewPlant, { caller }: { readonly caller: string }) => {
      const key = `${caller} ${plant.id}`;
      if (told.has(key)) return 'taken';
      told.add(key);
      plants.set(plant.id, plant);
      return 'created';
    };
    const peekAs = (caller: string) => ({ caller, peek: (id: bigint) => plants.get(id) });
    return { storage: { create }, ...peekAs('garden'), other: peekAs('park') } as const;
  },
  caughtBy: ['namespaces'],
};

/** Takes the conflict of a name for a taken id, as a bare `ON CONFLICT` does: in batches of this size and more. */
const bareConflict = (batchSize: number) => ({
  open() {
    const plants: Plants = new Map();
    let areUnique = false;
    const { create } = groupCommit((batch) =>
      batch.map((plant) => {
        if (plants.has(plant.id)) return 'taken';
        if (areUnique && [...plants.values()].some(({ name }) => name === plant.name)) {
          if (batch.length >= batchSize) return 'taken';
          throw new RolledBack('rejected', new Error('the name exists'));
        }
        plants.set(plant.id, plant);
        return 'created';
      }),
    );
    const makeNamesUnique = () => {
      areUnique = true;
    };
    return { storage: { create }, caller: 'anyone', peek: (id: bigint) => plants.get(id), makeNamesUnique };
  },
  caughtBy: ['second-unique-column'],
});

class Lost extends Error {}

/** A database that can lose its response to a plant, or fail to insert one; it throws if the id exists, as `INSERT` does. */
class FaultyDatabase {
  readonly plants: Plants = new Map();
  readonly #lost = new Set<bigint>();
  #code: string | undefined;

  async insert(plant: NewPlant): Promise<void> {
    const code = this.#code;
    this.#code = undefined;
    if (code) throw Object.assign(new Error('failed'), { code });
    if (this.plants.has(plant.id)) throw Object.assign(new Error('duplicate key'), { code: '23505' });
    this.plants.set(plant.id, plant);
    await turn();
    if (this.#lost.delete(plant.id)) throw new Lost('the connection ended');
  }

  readonly cut = (id: bigint) => void this.#lost.add(id);
  readonly fail = (code: string) => {
    this.#code = code;
  };
}

/** What a bridge returns or throws after an error. */
type After = (error: { code?: string }, plant: NewPlant, database: FaultyDatabase) => unknown;

const isDuplicate = ({ code }: { code?: string }) => code === '23505';

/** Opens a storage that inserts into such a database. */
const bridge = (after: After) => () => {
  const database = new FaultyDatabase();
  const create: PlantStorage['create'] = (plant) =>
    database.insert(plant).then(
      () => 'created',
      (error) => after(error, plant, database) as 'taken',
    );
  const { cut, fail, plants } = database;
  return { storage: { create }, caller: 'anyone', peek: (id: bigint) => plants.get(id), cut, fail };
};

const rethrow = (error: unknown) => Promise.reject(error);

/** Bridges that each misread one error, and the cases that must catch them alone. */
const misread: [hazard: string, caughtBy: string[], after: After][] = [
  [
    'reports a lost response as a rejection',
    ['lost-response'],
    (error) => (isDuplicate(error) ? 'taken' : rethrow(new RolledBack('rejected', error))),
  ],
  [
    'retries after a lost response, and finds its own plant',
    ['lost-response'],
    (error, plant, database) => {
      if (error instanceof Lost) return database.insert(plant).catch(() => 'taken');
      return isDuplicate(error) ? 'taken' : rethrow(error);
    },
  ],
  [
    'takes a rollback for a taken id',
    ['serialization-failure'],
    (error) => (isDuplicate(error) || error.code === '40001' ? 'taken' : rethrow(error)),
  ],
  [
    'reports a rollback as created',
    ['serialization-failure'],
    (error) => (isDuplicate(error) ? 'taken' : error.code === '40001' ? 'created' : rethrow(error)),
  ],
  [
    'sends the plant of another client when it retries',
    ['serialization-failure'],
    async (error, plant, database) => {
      if (error.code !== '40001') return isDuplicate(error) ? 'taken' : rethrow(error);
      await database.insert({ ...plant, name: 'another' });
      return 'created';
    },
  ],
  [
    'takes every constraint for a taken id',
    ['constraint'],
    (error) => (error.code?.startsWith('23') ? 'taken' : rethrow(error)),
  ],
];

/** The ids of the cases that a storage fails. */
async function failedBy(open: Parameters<typeof storageCases<string>>[0]): Promise<string[]> {
  const failed: string[] = [];
  for (const { id, run } of storageCases(open)) await run().catch(() => failed.push(id));
  return failed;
}

/** Opens a storage over a new map. */
const over = (make: (plants: Plants) => PlantStorage) => () => {
  const plants: Plants = new Map();
  return { storage: make(plants), caller: 'anyone', peek: (id: bigint) => plants.get(id) };
};

describe('a storage that', () => {
  it.each(broken)('%s fails %j', async (_, caughtBy, create) => {
    const failed = await failedBy(over((plants) => ({ create: create(plants) })));
    expect(failed).toEqual(expect.arrayContaining(caughtBy));
  });

  it.each([
    ['groups the creates of two tenants without a namespace', withoutNamespace],
    ['tells two tenants that a plant is created, and keeps one', oneForAllTenants],
    ['takes the conflict of another column for a taken id', bareConflict(1)],
    ['takes the conflict of another column for a taken id in a batch', bareConflict(2)],
  ])('%s fails its own case alone', async (_, { open, caughtBy }) => {
    expect(await failedBy(open)).toEqual(caughtBy);
  });

  it.each(misread)('%s fails %j alone', async (_, caughtBy, after) => {
    expect(await failedBy(bridge(after))).toEqual(caughtBy);
  });

  it('leaves the outcome of every error but a duplicate key unknown fails no case', async () => {
    expect(await failedBy(bridge((error) => (isDuplicate(error) ? 'taken' : rethrow(error))))).toEqual([]);
  });

  it.each<[string, (plants: Plants) => PlantStorage['find']]>([
    ['finds by a rounded id', (plants) => async (id) => plants.get(BigInt(Number(id)))],
    [
      'finds another plant if there is none',
      (plants) => async (id) => plants.get(id) ?? [...plants.values()][0],
    ],
    [
      'finds an absent tag as an empty tag',
      (plants) => async (id) => {
        const plant = plants.get(id);
        return plant && { ...plant, tag: plant.tag ?? '' };
      },
    ],
  ])('%s fails ["find"] alone', async (_, find) => {
    const exactly = storing((plant) => plant);
    const failed = await failedBy(over((plants) => ({ create: exactly(plants), find: find(plants) })));
    expect(failed).toEqual(['find']);
  });
});

describe('storageCases', () => {
  it('has a broken storage in this file for each of its cases', () => {
    const ids = storageCases(() => Promise.reject(new Error('not opened'))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const others = [...withoutNamespace.caughtBy, ...bareConflict(1).caughtBy, 'find'];
    const caught = [...broken, ...misread].flatMap(([, caughtBy]) => caughtBy);
    expect(new Set([...caught, ...others])).toEqual(new Set(ids));
  });

  /** Runs one case on a storage that stores something else, or nothing. */
  const runOf = (id: string, kept: (plant: NewPlant) => NewPlant | undefined) => {
    const open = over((plants) => ({
      async create(plant) {
        const stored = kept(plant);
        if (stored) plants.set(plant.id, stored);
        return 'created';
      },
    }));
    return storageCases(open)
      .find((one) => one.id === id)!
      .run();
  };

  const shrub = '{ id: 1n, name: "Rosa 1", tag: "shrub" }';
  const without = '{ id: 1n, name: "without", tag: absent }';
  it.each<[string, string, string, (plant: NewPlant) => NewPlant | undefined]>([
    ['created-lands', shrub, 'no plant', () => undefined],
    ['created-lands', shrub, shrub.replace('1n', 'number 1'), (plant) => ({ ...plant, id: 1 as never })],
    ['tag-absent-or-empty', without, without.replace('absent', '""'), (plant) => ({ tag: '', ...plant })],
  ])(
    'reports the broken promise of %s with the expected and the received plant: %s, %s',
    async (id, expected, got, kept) => {
      const why = `what landed under id 1: expected ${expected}, got ${got}`;
      await expect(runOf(id, kept)).rejects.toThrow(why);
    },
  );

  it('skips by name what a storage cannot show, in a runner that can skip, and passes it in others', async () => {
    const open = over((plants) => ({ create: storing((plant) => plant)(plants) }));
    const skipped: Record<string, unknown> = {};
    for (const { id, run } of storageCases(open)) {
      await run({ skip: (reason) => Object.assign(skipped, { [id]: reason }) });
      await run();
      expect(run).toHaveLength(0);
    }
    expect(skipped).toEqual({
      namespaces: 'open() gives no other',
      'second-unique-column': 'open() gives no makeNamesUnique',
      'lost-response': 'open() gives no cut',
      'serialization-failure': 'open() gives no fail',
      constraint: 'open() gives no fail',
    });
  });

  it('shortens a long text', async () => {
    const cut = runOf('long-text', (plant) => ({ ...plant, name: plant.name.slice(0, 50_000) }));
    await expect(cut).rejects.toThrow(
      /expected .{300}… \(1000\d{2} characters\), got .{300}… \(500\d{2} characters\)$/,
    );
  });

  it.each([
    ['peek', { storage: { create: async () => 'created' }, caller: 'anyone' }],
    ['storage', { peek: () => undefined }],
    ['storage', undefined],
  ])('says that open must return %s, if it does not', async (missing, opened) => {
    const cases = storageCases((() => opened) as never);
    for (const { run } of cases)
      await expect(run()).rejects.toThrow(new RegExp(`^open must return .*; ${missing} is missing$`));
  });

  it('closes what it opened, whether the case passes or fails, and reports the fault', async () => {
    let open = 0;
    const create = async () => 'taken' as const;
    const cases = storageCases(() => {
      open++;
      return { storage: { create }, caller: 'anyone', peek: () => undefined, close: () => void open-- };
    });
    for (const { run } of cases) await run().catch(() => {});
    expect(open).toBe(0);
    await expect(cases[0]?.run()).rejects.toThrow('expected created, got taken');
  });
});
