/**
 * The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped. 7 000
 * was the aim; reading on after a refused upload, so that the next request on its connection is answered, takes 480.
 */
export const bundleBudget = 7_500;
