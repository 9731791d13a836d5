/**
 * The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped.
 * Draining a rejected upload takes 350 of them, so that the next request on its connection gets a response; the lines that
 * explain a 5xx to an operator take 800. Own members only, and a process that stays alive until its response, take 190.
 */
export const bundleBudget = 7_900;

/**
 * The largest bundle of `plant-store/client`, in the same bytes. To end every wait with the signal, and to read no more of a
 * response than this API sends, takes 310 of them.
 */
export const clientBudget = 1_680;

/**
 * The most that a storage adds to a bundle that has `plant-store`, in the same bytes. The statement of a lone plant takes 130
 * in SQLite, for a fifth of its time.
 */
export const storageBudgets = { postgres: 7_500, mysql: 7_000, sqlite: 5_000, memory: 1_000 };
