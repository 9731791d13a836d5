/**
 * The largest bundle of `createPlantStore` and `toFetch` for a browser or a worker, in bytes, minified and gzipped. valibot
 * takes 1 000 of them, and draining a rejected upload 350, so that the next request on its connection gets a response.
 */
export const bundleBudget = 7_750;
