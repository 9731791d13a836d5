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
    (plants) => async (plant) => {
      const id = BigInt(Number(plant.id));
      if (plants.has(id)) return 'taken';
      plants.set(id, { ...plant, id });
      return 'created';
    },
  ],
  [
    'cuts ids to 32 bits',
    ['int64-edges'],
    (plants) => async (plant) => {
      const id = BigInt.asIntN(32, plant.id);
      if (plants.has(id)) return 'taken';
      plants.set(id, { ...plant, id });
      return 'created';
    },
  ],
  [
    'swallows an error of the database and returns created',
    ['long-text', 'taken-changes-nothing'],
    (plants) => async (plant) => {
      try {
        insert(plants, plant);
      } catch {}
      return 'created';
    },
  ],
  [
    'takes every error of the database for a taken id',
    ['long-text'],
    (plants) => async (plant) => {
      try {
        insert(plants, plant);
        return 'created';
      } catch {
        return 'taken';
      }
    },
  ],
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

/** A database that limits the length of a name. */
function insert(plants: Plants, plant: NewPlant): void {
  if (plant.name.length > 10_000) throw new Error('value too long');
  if (plants.has(plant.id)) throw new Error('duplicate key');
  plants.set(plant.id, plant);
}

function storing(kept: (plant: NewPlant) => NewPlant): (plants: Plants) => PlantStorage['create'] {
  return (plants) => async (plant) => {
    if (plants.has(plant.id)) return 'taken';
    plants.set(plant.id, kept(plant));
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
async function failedBy(make: (plants: Plants) => PlantStorage): Promise<string[]> {
  const cases = storageCases(() => {
    const plants: Plants = new Map();
    return { storage: make(plants), caller: 'anyone', peek: (id) => plants.get(id) };
  });
  const failed: string[] = [];
  for (const { id, run } of cases) await run().catch(() => failed.push(id));
  return failed;
}

describe('a storage that', () => {
  it.each(broken)('%s fails %j', async (_, caughtBy, create) => {
    expect(await failedBy((plants) => ({ create: create(plants) }))).toEqual(
      expect.arrayContaining(caughtBy),
    );
  });

  it('groups the creates of two tenants without a namespace fails ["namespaces"] alone', async () => {
    const failed: string[] = [];
    for (const { id, run } of storageCases(withoutNamespace.open)) await run().catch(() => failed.push(id));
    expect(failed).toEqual(withoutNamespace.caughtBy);
  });

  it('takes the conflict of another column for a taken id fails ["second-unique-column"] alone', async () => {
    const failed: string[] = [];
    for (const { id, run } of storageCases(bareConflict.open)) await run().catch(() => failed.push(id));
    expect(failed).toEqual(bareConflict.caughtBy);
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
    const failed = await failedBy((plants) => ({
      create: storing((plant) => plant)(plants),
      find: find(plants),
    }));
    expect(failed).toEqual(['find']);
  });
});

describe('storageCases', () => {
  it('has a broken storage in this file for each of its cases', () => {
    const ids = storageCases(() => Promise.reject(new Error('not opened'))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(
      new Set([
        ...broken.flatMap(([, caughtBy]) => caughtBy),
        ...withoutNamespace.caughtBy,
        ...bareConflict.caughtBy,
        'find',
      ]),
    ).toEqual(new Set(ids));
  });

  it.each<[string, (plant: NewPlant) => NewPlant]>([
    ['{ id: 1n, name: "without", tag: "" }', (plant) => ({ ...plant, tag: plant.tag ?? '' })],
    [
      '{ id: number 1, name: "without", tag: absent }',
      (plant) => ({ ...plant, id: Number(plant.id) as never }),
    ],
  ])('reports the broken promise with the expected and the received plant: %s', async (came, kept) => {
    const plants: Plants = new Map();
    const create = storing(kept)(plants);
    const cases = storageCases(() => ({
      storage: { create },
      caller: 'anyone',
      peek: (id) => plants.get(id),
    }));
    await expect(cases.find(({ id }) => id === 'tag-absent-or-empty')?.run()).rejects.toThrow(
      `what landed under id 1: expected { id: 1n, name: "without", tag: absent }, got ${came}`,
    );
  });

  it('reports that nothing was stored, or a plant whose id is no bigint', async () => {
    const landed: unknown[] = [undefined, { id: 1, name: 'Rosa 1', tag: 'shrub' }];
    for (const [i, got] of ['no plant', '{ id: number 1, name: "Rosa 1", tag: "shrub" }'].entries()) {
      const create = async () => 'created' as const;
      const peek = () => landed[i] as NewPlant;
      const cases = storageCases(() => ({ storage: { create }, caller: 'anyone', peek }));
      await expect(cases.find(({ id }) => id === 'created-lands')?.run()).rejects.toThrow(
        `what landed under id 1: expected { id: 1n, name: "Rosa 1", tag: "shrub" }, got ${got}`,
      );
    }
  });

  it('shortens a long text', async () => {
    const plants: Plants = new Map();
    const create = storing((plant) => ({ ...plant, name: plant.name.slice(0, 50_000) }))(plants);
    const cases = storageCases(() => ({
      storage: { create },
      caller: 'anyone',
      peek: (id) => plants.get(id),
    }));
    const failing = cases.find(({ id }) => id === 'long-text')?.run();
    await expect(failing).rejects.toThrow(
      /expected .{300}… \(1000\d{2} characters\), got .{300}… \(500\d{2} characters\)$/,
    );
  });

  it('names its cases in words', () => {
    for (const { name } of storageCases(() => Promise.reject(new Error('not opened')))) {
      expect(name).toMatch(/^[\w ].{20,}/);
    }
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
