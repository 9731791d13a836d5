/** The most that `createPlantStore` and `toFetch` may weigh in a browser or a worker: bytes, minified and gzipped. */
export const bundleBudget = 7_000;
