/**
 * The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped.
 * Draining a rejected upload takes 350 of them, so that the next request on its connection gets a response.
 */
export const bundleBudget = 7_300;

/** The most that a storage adds to a bundle that has `plant-store`, in bytes, minified and gzipped. */
export const storageBudgets = { postgres: 6_400, mysql: 5_800, sqlite: 3_850, memory: 1_100 };
