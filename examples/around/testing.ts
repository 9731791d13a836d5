// Tests of your app without a server, with any test runner: `node --import tsx examples/around/testing.ts`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createPlantStore,
  type NewPlant,
  PlantRefused,
  type PlantStorage,
  type VerifyToken,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

// The rules of your app.
const verifyToken: VerifyToken<string> = (token) => (token === 'secret' ? 'alice' : null);
const onlyRoses = (plants: PlantStorage): PlantStorage => ({
  async create(plant, context) {
    if (!plant.name.startsWith('Rosa')) throw new PlantRefused('only roses grow here');
    return plants.create(plant, context);
  },
});

async function create(plant: string, token = 'secret') {
  const plants = new Map<bigint, NewPlant>();
  const handle = createPlantStore(onlyRoses(memoryStorage(plants)), verifyToken);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { status, body } = await handle({ method: 'POST', url: '/plants', headers, body: plant });
  return { status, body: JSON.parse(body), plants: [...plants.values()] };
}

test('a rose is created', async () => {
  const { status, plants } = await create('{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}');
  assert.equal(status, 200);
  assert.deepEqual(plants, [{ id: 9007199254740993n, name: 'Rosa canina', tag: 'shrub' }]);
});

test('an oak is rejected', async () => {
  const { status, body } = await create('{"id":1,"name":"Quercus robur"}');
  assert.deepEqual([status, body], [400, { error: 40004, message: 'only roses grow here' }]);
});

test('an invalid token is rejected', async () => {
  const { status, plants } = await create('{"id":1,"name":"Rosa canina"}', 'wrong');
  assert.deepEqual([status, plants], [401, []]);
});
