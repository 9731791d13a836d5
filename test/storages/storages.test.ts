import { groupCommit, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { type OpenedStorage, storageCases } from 'plant-store/testing';
import { describe, it } from 'vitest';

const storages: Record<string, () => OpenedStorage<unknown> | Promise<OpenedStorage<unknown>>> = {
  memory() {
    const plants = new Map<bigint, NewPlant>();
    return { storage: memoryStorage(plants), caller: 'anyone', peek: (id) => plants.get(id) };
  },
  'groupCommit over memory'() {
    const plants = new Map<bigint, NewPlant>();
    const { create } = memoryStorage(plants);
    const storage = groupCommit((batch, contexts) =>
      Promise.all(batch.map((plant, i) => create(plant, contexts[i]!))),
    );
    return { storage, caller: 'anyone', peek: (id) => plants.get(id) };
  },
};

describe.each(Object.entries(storages))('%s', (_, open) => {
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);
});
