import { groupCommit, type NewPlant, PlantRefused, type PlantStorage } from 'plant-store';
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

/** Takes every conflict for a taken id, as a bare `ON CONFLICT` does. */
const bareConflict = {
  open() {
    const plants: Plants = new Map();
    let areUnique = false;
    const create: PlantStorage['create'] = async (plant) => {
      const isConflict = areUnique && [...plants.values()].some(({ name }) => name === plant.name);
      if (isConflict || plants.has(plant.id)) return 'taken';
      plants.set(plant.id, plant);
      return 'created';
    };
    const makeNamesUnique = () => {
      areUnique = true;
    };
    return { storage: { create }, caller: 'anyone', peek: (id: bigint) => plants.get(id), makeNamesUnique };
  },
  caughtBy: ['second-unique-column'],
};

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
    ['takes the conflict of another column for a taken id', bareConflict],
  ])('%s fails its own case alone', async (_, { open, caughtBy }) => {
    expect(await failedBy(open)).toEqual(caughtBy);
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
    const others = [...withoutNamespace.caughtBy, ...bareConflict.caughtBy, 'find'];
    expect(new Set([...broken.flatMap(([, caughtBy]) => caughtBy), ...others])).toEqual(new Set(ids));
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

  it('shortens a long text', async () => {
    const cut = runOf('long-text', (plant) => ({ ...plant, name: plant.name.slice(0, 50_000) }));
    await expect(cut).rejects.toThrow(
      /expected .{300}… \(1000\d{2} characters\), got .{300}… \(500\d{2} characters\)$/,
    );
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
