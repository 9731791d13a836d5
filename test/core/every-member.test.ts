// A plant with every member, through each place that could forget one. A new member of `NewPlant` does not compile here until
// `everyMember` has it, and then each test names the place that has not.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPlantStore, groupCommit, type NewPlant, type PlantStorage } from 'plant-store';
import { createPlantClient } from 'plant-store/client';
import { memoryStorage } from 'plant-store/memory';
import { openapi } from 'plant-store/openapi';
import { newPlantFormSchema, newPlantSchema, plantSchema } from 'plant-store/schema';
import { describe, expect, it } from 'vitest';
import { createRequest } from '../support/plants.js';
import { root } from '../support/root.js';
import { validators } from './openapi-documented.js';

const everyMember = {
  id: 9007199254740993n,
  name: 'Rosa canina',
  tag: 'shrub',
} satisfies Required<NewPlant>;
const { id, ...returned } = everyMember;
const members = Object.keys(everyMember);
const json = `{"id":${id},${JSON.stringify(returned).slice(1)}`;

/** A storage that keeps what it gets. */
function keeping() {
  const plants: NewPlant[] = [];
  const storage: PlantStorage = {
    create: async (plant) => {
      plants.push(plant);
      return 'created';
    },
  };
  return { plants, storage };
}

const verify = () => true;
const respond = async (storage: PlantStorage, body: Parameters<typeof createRequest>[1]) => {
  const { status, body: text } = await createPlantStore(storage, verify)(createRequest('any', body));
  return { status, body: JSON.parse(text) };
};

describe('every member of a plant', () => {
  it.each([
    ['as most clients write it', json],
    ['with white space', json.replaceAll(',"', ' , "')],
    ['with the id at its end', `${JSON.stringify(returned).slice(0, -1)},"id":${id}}`],
    ['with an id of few digits', json.replace(String(id), '7')],
  ])('reaches the storage and is in the 200, from a body %s', async (_, body) => {
    const { plants, storage } = keeping();
    expect(await respond(storage, body)).toEqual({ status: 200, body: returned });
    expect(plants).toEqual([{ ...everyMember, id: body.includes(String(id)) ? id : 7n }]);
  });

  it('reaches the storage from a body that the host has parsed', async () => {
    const { plants, storage } = keeping();
    const parsed = { ...everyMember, id: 7 };
    expect(await respond(storage, { parsed } as never)).toEqual({ status: 200, body: returned });
    expect(plants).toEqual([{ ...everyMember, id: 7n }]);
  });

  it('is found in memory, and reaches a batch', async () => {
    const context = { caller: true, request: createRequest('any'), signal: new AbortController().signal };
    const memory = memoryStorage();
    await memory.create(everyMember, context);
    expect(await memory.find?.(id, context)).toEqual(everyMember);
    const batches: unknown[] = [];
    const { create } = groupCommit((plants) => {
      batches.push(plants);
      return plants.map(() => 'created' as const);
    });
    await create(everyMember, context);
    expect(batches).toEqual([[everyMember]]);
  });

  it('is sent and returned by the client', async () => {
    const sent: string[] = [];
    const client = createPlantClient('http://localhost', {
      token: 'any',
      fetch: async (_url, { body }) => {
        sent.push(body);
        return Response.json(returned);
      },
    });
    expect(await client.create(everyMember)).toEqual(returned);
    expect(sent.map((text) => JSON.parse(text))).toEqual([JSON.parse(json)]);
  });

  it('is kept by each schema', async () => {
    const { validate } = newPlantFormSchema['~standard'];
    expect(await newPlantSchema['~standard'].validate(everyMember)).toMatchObject({ value: everyMember });
    expect(await plantSchema['~standard'].validate(returned)).toMatchObject({ value: returned });
    expect(await validate({ ...everyMember, id: String(id) })).toMatchObject({ value: everyMember });
  });

  it.each(members)('%s is checked: an object is none of its values', async (member) => {
    const wrong = { ...everyMember, id: 7, [member]: {} };
    const { status, body } = await respond(keeping().storage, JSON.stringify(wrong));
    expect([status, body.error, body.message]).toEqual([400, 40002, expect.stringContaining(member)]);
    const about = [expect.objectContaining({ path: [expect.objectContaining({ key: member })] })];
    const issues = async (schema: typeof newPlantSchema | typeof plantSchema | typeof newPlantFormSchema) =>
      (await schema['~standard'].validate({ ...wrong, id: member === 'id' ? {} : 7n })).issues;
    expect(await issues(newPlantSchema)).toEqual(about);
    expect(await issues(newPlantFormSchema)).toEqual(expect.arrayContaining(about));
    if (member in returned) expect(await issues(plantSchema)).toEqual(about);
    expect(validators(openapi())('/components/schemas/NewPlant')(wrong)).toBe(false);
  });

  it('is in the document', () => {
    const { NewPlant, Plant } = openapi().components.schemas;
    expect(Object.keys(Plant.properties).sort()).toEqual(Object.keys(returned).sort());
    // `Plant` and the id, or each of them.
    const text = JSON.stringify(NewPlant);
    for (const member of members)
      expect(text.includes(`"${member}"`) || text.includes('/Plant"'), member).toBe(true);
  });

  it('is in a published host case, and in its 200', () => {
    const cases = JSON.parse(readFileSync(join(root, 'test/published/host-cases.json'), 'utf8')) as {
      request: { body?: string };
      expected: { status: number; body?: object };
    }[];
    const bodies = cases.filter(({ expected }) => expected.status === 200).map(({ request }) => request.body);
    for (const member of members) expect(bodies.join()).toContain(`"${member}":`);
    const keys = cases.map(({ expected }) => Object.keys(expected.body ?? {}).sort());
    expect(keys).toContainEqual(Object.keys(returned).sort());
  });
});

/** Programs and pages that show the members of a plant. */
const shown = ['examples', 'adapters', 'src']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((path) => /^examples\/.*\.(ts|tsx|js|svelte)$|\.md$/.test(path))
  .concat('README.md')
  .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const)
  .filter(([, text]) => /\bname\b/.test(text) && /\btag\b/.test(text));

it.each(shown)('%s shows every member of a plant, as it shows a tag', (_, text) => {
  expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(text))).toEqual([]);
});
