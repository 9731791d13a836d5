// The fast path reads what most clients write, and leaves the rest to the general path. json.test.ts holds one against the other.
import { createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { expect, test, vi } from 'vitest';

async function read(body: string): Promise<NewPlant | string> {
  const plants = new Map<bigint, NewPlant>();
  const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
  const handle = createPlantStore(memoryStorage(plants), () => true);
  const answer = await handle({ method: 'POST', url: '/plants', headers, body });
  const [plant] = plants.values();
  return plant ?? answer.body;
}

/** Whether `JSON.parse` never saw the whole text. */
async function isFast(text: string): Promise<boolean> {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const { calls } = parse.mock;
    expect(await read(text)).toBeTypeOf('object');
    return !calls.some(([parsed]) => parsed === text);
  } finally {
    parse.mockRestore();
  }
}

const ids = ['0', '7', '-7', '10', '9007199254740993', '-1234567890123456789'];
const strings = ['', 'x', ' !#[]~', 'é🌹\uffff', '\\"', '\\\\', 'a\\u0041b\\nc', '\\/\\b\\f\\r\\t'];
const plants = [
  ...ids.map((id) => `{"id":${id},"name":"x"}`),
  ...strings.map((string) => `{"id":1,"name":"${string}","tag":"${string}"}`),
  '{ "id" : 1 , "name" : "x" , "tag" : "y" }',
  '{"id": 1, "name": "x", "tag": "y"}',
  '{"name":"x","id":1}',
  '{"tag":"y","name":"x","id":1}',
  `{"id":1,"name":"${'x'.repeat(400)}"}`,
];
test.each(plants)('the fast path reads a plant as most clients write it, such as %s', async (text) => {
  expect(await isFast(text)).toBe(true);
  expect(await read(text)).toEqual(await read(`\n${text}`));
});

test.each([
  ['id', '{"id":1,"id":1,"name":"x"}'],
  ['name', '{"name":"x","id":1,"name":"x"}'],
  ['tag', '{"tag":"x","name":"x","tag":"x"}'],
])('the fast path leaves a repeated %s to the general path, which rejects it', async (name, text) => {
  expect(await read(text)).toMatch(new RegExp(`\\b${name} must not be repeated`));
});
