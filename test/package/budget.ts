/**
 * The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped. 7 000
 * is the aim. valibot takes 520 of them, and reading on after a refused upload 350, so that the next request on its
 * connection is answered.
 */
export const bundleBudget = 7_150;
