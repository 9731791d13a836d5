/**
 * The largest bundles, in bytes, minified and gzipped: for accidents, such as an import of a whole room, and no targets. Exceed
 * one where the code is plainer for it.
 */

/** `createPlantStore` and `toFetch`, for a browser or a worker. */
export const bundleBudget = 10_600;

/** `plant-store/client`. */
export const clientBudget = 3_000;

/** What a storage adds to a bundle that has `plant-store`: a third of it are the sentences about tables, grants and wrong objects. */
export const storageBudgets = {
  postgres: 13_000,
  mysql: 11_000,
  sqlite: 8_000,
  'sqlite-async': 11_000,
  memory: 1_500,
};
