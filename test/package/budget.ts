/** The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped. */
export const bundleBudget = 7_000;
