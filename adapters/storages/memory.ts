import { own } from '../../src/for-storages.js';
import type { NewPlant, PlantStorage, StorageContext } from '../../src/index.js';
import { type RowOptions, rowMaker } from './_shared/rows.js';

/** The options of `memoryStorage`. */
export type MemoryOptions<Caller = unknown> = Pick<RowOptions<Caller>, 'namespace'>;

/**
 * Stores plants in a `Map`, for tests and trials: they are lost on exit.
 *
 * @param plants the map to store them in, by id; with a `namespace` by its values and the id, such as `["garden",["7"]]`
 * @throws {TypeError} if `namespace` is invalid
 *
 * @example
 * ```ts
 * const plants = new Map<bigint, NewPlant>();
 * const handle = createPlantStore(memoryStorage(plants), acceptTokens('secret'));
 * ```
 */
export function memoryStorage<Caller = unknown>(
  plants: Map<bigint | string, NewPlant> = new Map(),
  options: MemoryOptions<Caller> = {},
): PlantStorage<Caller> {
  const rows = rowMaker<Caller>({ namespace: own(options).namespace });
  const keyOf = (id: bigint, context: StorageContext<Caller>) =>
    rows.isPlain ? id : JSON.stringify([...rows.keyOf(id, context).slice(0, -1), [String(id)]]);
  return {
    async create(plant, context) {
      if (!rows.isPlain) rows.contextOf(context);
      const key = keyOf(plant.id, context);
      if (plants.has(key)) return 'taken';
      plants.set(key, plant);
      return 'created';
    },
    async find(id, context) {
      return plants.get(keyOf(id, context));
    },
  };
}
