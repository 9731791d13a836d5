/**
 * The largest bundles, in bytes, minified and gzipped: for accidents, such as an import of a whole room, and no targets. Exceed
 * one where the code is plainer for it.
 */

/** `createPlantStore` and `toFetch`, for a browser or a worker. Half of it are the names of codes that the log shows. */
export const bundleBudget = 20_700;

/** `plant-store/client`. */
export const clientBudget = 3_200;

/** What a storage adds to a bundle that has `plant-store`: a third of it are the sentences about tables, grants and wrong objects. */
export const storageBudgets = {
  postgres: 14_800,
  mysql: 14_000,
  sqlite: 14_800,
  memory: 1_500,
};
