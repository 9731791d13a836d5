import type { NewPlant, PlantStorage } from '../../src/index.js';

/**
 * Stores plants in a `Map`, for tests and trials: they are lost on exit.
 *
 * @param plants the map to store them in, by id
 *
 * @example
 * ```ts
 * const plants = new Map<bigint, NewPlant>();
 * const handle = createPlantStore(memoryStorage(plants), acceptTokens('secret'));
 * ```
 */
export function memoryStorage(plants: Map<bigint, NewPlant> = new Map()): PlantStorage {
  return {
    async create(plant) {
      if (plants.has(plant.id)) return 'taken';
      plants.set(plant.id, plant);
      return 'created';
    },
    async find(id) {
      return plants.get(id);
    },
  };
}
