/** A route of Nitro whose creates wait for one another: two in a batch. */
// @ts-expect-error: installed only for this test
import { fromWebHandler } from 'nitro/deps/h3';
import { acceptTokens, createPlantStore, groupCommit } from 'plant-store';
import { toRoute } from 'plant-store/fetch';

const storage = groupCommit(
  async (plants) => {
    await new Promise((resolve) => setImmediate(resolve));
    return plants.map(() => 'created');
  },
  { maxBatch: 2 },
);

export default fromWebHandler(toRoute(createPlantStore(storage, acceptTokens('secret'))));
