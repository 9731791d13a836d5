/** What to write in place of any mount that is wrong. */
export const whatToWrite =
  'plant-store: mount it with an adapter, such as toExpress(createPlantStore(storage, verifyToken)).';

/**
 * Thrown, and not rejected with, to a host that calls the handler without an adapter, or the adapter of another host: the
 * request would hang, and Express 4 and `node:http` ignore what a promise rejects with.
 */
export function mountMistake(message = whatToWrite): TypeError {
  // Some hosts do not show what they catch.
  console.error(message);
  return new TypeError(message);
}
