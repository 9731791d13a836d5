// A client that sends every id exactly: `URL=http://… node --import tsx examples/clients/client.ts`.
import { createPlantClient, PlantError } from 'plant-store/client';

const { URL: baseUrl = 'http://127.0.0.1:3000', TOKEN: token = 'for-evaluation-only' } = process.env;

const client = createPlantClient(baseUrl, { token });

// Not a `number`, which has 53 bits: 9007199254740993 would become 9007199254740992 before it is sent.
for (const id of [9_007_199_254_740_992n, 9_007_199_254_740_993n]) {
  try {
    console.log(await client.create({ id, name: 'Rosa canina', tag: 'shrub' }));
  } catch (error) {
    if (!(error instanceof PlantError)) throw error;
    console.log(error.problem ?? error.status, error.stored, error.message);
  }
}
