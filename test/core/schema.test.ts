// `plant-store/schema`: the rule of the 400, for forms, validators and callers.
import { vValidator } from '@hono/valibot-validator';
import fc from 'fast-check';
import { Hono } from 'hono';
import { createPlantStore, type NewPlant, type Plant } from 'plant-store';
import { newPlantSchema, plantSchema } from 'plant-store/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { memberRules } from '../../src/problems.js';

/** What every library that takes a Standard Schema does: https://standardschema.dev. */
async function parse<Output>(
  schema: {
    readonly '~standard': {
      readonly validate: (value: unknown) => unknown;
      readonly types?: { readonly output: Output } | undefined;
    };
  },
  value: unknown,
) {
  const result = (await schema['~standard'].validate(value)) as {
    readonly value: Output;
    readonly issues?: readonly {
      readonly message: string;
      readonly path?: readonly { readonly key: unknown }[];
    }[];
  };
  const errors = result.issues?.map(({ path, message }) => [path?.[0]?.key, message]);
  return errors ? { errors } : { value: result.value };
}

/** The message of the 400 for a value as JSON, or `undefined` for a 200. */
async function messageOf(value: unknown): Promise<string | undefined> {
  const handle = createPlantStore({ create: async () => 'created' }, () => true);
  const body = JSON.stringify(value, (_key, member) =>
    typeof member === 'bigint' ? Number(member) : member,
  );
  const { body: text } = await handle({
    method: 'POST',
    url: '/plants',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body,
  });
  return JSON.parse(text).message;
}

describe('newPlantSchema', () => {
  it.each<[string, unknown, bigint]>([
    ['a bigint', 9007199254740993n, 9007199254740993n],
    ['the least int64', -(2n ** 63n), -(2n ** 63n)],
    ['the greatest int64', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['a safe integer', 1, 1n],
    ['the greatest safe integer', Number.MAX_SAFE_INTEGER, 9007199254740991n],
    ['minus zero', -0, 0n],
  ])('returns a bigint for %s', async (_what, id, expected) => {
    expect(await parse(newPlantSchema, { id, name: 'Ilex', more: 1 })).toEqual({
      value: { id: expected, name: 'Ilex' },
    });
  });

  it.each<[string, unknown]>([
    ['a rounded integer', 2 ** 53],
    ['a fraction', 1.5],
    ['a string', '1'],
    ['a bigint beyond int64', 2n ** 63n],
    ['null', null],
    ['nothing', undefined],
  ])('rejects %s as an id', async (_what, id) => {
    expect(await parse(newPlantSchema, { id, name: 'Ilex' })).toEqual({ errors: [['id', memberRules.id]] });
  });

  it('names each member that is absent or invalid, with the message of the 400', async () => {
    for (const value of [{}, { id: 1.5, name: 7, tag: null }, { name: '\0', tag: '\ud800' }]) {
      const { errors = [] } = await parse(newPlantSchema, value);
      expect(`Not a NewPlant: ${errors.map(([, message]) => message).join('; ')}.`).toBe(
        await messageOf(value),
      );
    }
    expect(await parse(newPlantSchema, 7)).toEqual({ errors: [[undefined, 'a plant must be an object']] });
  });

  it('accepts what the handler accepts', async () => {
    const text = fc.string({ unit: 'binary' });
    const member = fc.oneof(text, fc.maxSafeInteger(), fc.constantFrom(null, true, [], {}, 1.5));
    const value = fc.record(
      { id: fc.oneof(fc.maxSafeInteger(), member), name: member, tag: member },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(value, async (plant) => {
        const { errors } = await parse(newPlantSchema, plant);
        expect(errors === undefined).toBe((await messageOf(plant)) === undefined);
      }),
    );
  });

  it('has the types of a NewPlant and of a Plant', () => {
    type Output<Schema> = Schema extends { readonly '~types'?: { readonly output: infer T } | undefined }
      ? T
      : never;
    expectTypeOf<Output<typeof newPlantSchema>>().toExtend<NewPlant>();
    expectTypeOf<Output<typeof plantSchema>>().toExtend<Plant>();
  });
});

it('plantSchema accepts the body of a 200 and drops other members', async () => {
  expect(await parse(plantSchema, { name: 'Ilex', id: 1 })).toEqual({ value: { name: 'Ilex' } });
  expect(await parse(plantSchema, { tag: 7 })).toEqual({
    errors: [
      ['name', memberRules.name],
      ['tag', memberRules.tag],
    ],
  });
});

describe('newPlantSchema works', () => {
  it('in a validator of Hono', async () => {
    const app = new Hono().post('/', vValidator('json', newPlantSchema), (c) => {
      const plant = c.req.valid('json');
      expectTypeOf(plant.id).toEqualTypeOf<bigint>();
      return c.text(String(plant.id));
    });
    const post = (body: string) =>
      app.request('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(await (await post('{"id":7,"name":"Ilex"}')).text()).toBe('7');
    expect((await post('{"id":9007199254740993,"name":"Ilex"}')).status).toBe(400);
  });

  it('as the input of a procedure, as tRPC calls it', async () => {
    const procedure = async (input: unknown) => {
      const result = await newPlantSchema['~standard'].validate(input);
      if (result.issues) throw new Error(result.issues.map(({ message }) => message).join('; '));
      return result.value.id + 1n;
    };
    expect(await procedure({ id: 1n, name: 'Ilex' })).toBe(2n);
    await expect(procedure({ id: 1n })).rejects.toThrow(memberRules.name);
  });

  it("in a form's resolver, which wants a message for each field", async () => {
    const resolve = async (values: unknown) => {
      const { issues = [] } = await newPlantSchema['~standard'].validate(values);
      return Object.fromEntries(
        issues.map(({ path = [], message }) => [
          path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
          { type: 'validate', message },
        ]),
      );
    };
    expect(await resolve({ id: 1, name: 'Ilex' })).toEqual({});
    expect(await resolve({ id: Number('9007199254740993'), name: '' })).toEqual({
      id: { type: 'validate', message: memberRules.id },
    });
  });
});
