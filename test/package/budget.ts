/**
 * The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped.
 * Draining a rejected upload takes 350 of them, so that the next request on its connection gets a response.
 */
export const bundleBudget = 7_300;
