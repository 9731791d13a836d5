// `plant-store/schema`: the rule of the 400, for forms, validators and callers.
import { createPlantStore, type NewPlant, type Plant } from 'plant-store';
import { idSchema, issuesByField, newPlantFormSchema, newPlantSchema, plantSchema } from 'plant-store/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { memberRules } from '../../src/errors/problems.js';
import { createRequest } from '../support/plants.js';
import fc, { anyText } from '../support/properties.js';

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
  const { body: text } = await handle(createRequest('any', body));
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
    ['a string', '1'],
    ['a bigint beyond int64', 2n ** 63n],
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
    const member = fc.oneof(anyText, fc.maxSafeInteger(), fc.constantFrom(null, true, [], {}, 1.5));
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

const sentence = 'Enter an integer from -9223372036854775808 to 9223372036854775807.';

describe('idSchema', () => {
  it('returns the same bigint for each int64, from a bigint and from its digits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), async (id) => {
        expect(await parse(idSchema, id)).toEqual({ value: id });
        expect(await parse(idSchema, String(id))).toEqual({ value: id });
      }),
    );
    // At once, however long the text is.
    expect(await parse(idSchema, '1'.repeat(1_000_000))).toEqual({ errors: [[undefined, sentence]] });
  });

  it.each<[unknown, bigint]>([
    [7, 7n],
    [-0, 0n],
    ['-0', 0n],
    ['007', 7n],
    [Number.MAX_SAFE_INTEGER, 9007199254740991n],
    ['-9223372036854775808', -(2n ** 63n)],
  ])('returns a bigint for %o', async (id, expected) => {
    expect(await parse(idSchema, id)).toEqual({ value: expected });
  });

  it.each([
    ...['', ' 1', '1 ', '+1', '1.0', '1e3', '0x10', '1n', '٣', 'rose', '--1', '1\n', '1'.repeat(99)],
    // A digit too many, whatever its value.
    `${'0'.repeat(19)}7`,
    ...['9223372036854775808', '-9223372036854775809', 2n ** 63n, 2 ** 53, 1.5, Number.NaN],
    ...[null, undefined, true, {}, [], ['1'], new String('1')],
  ])('rejects %o with a sentence for people', async (id) => {
    expect(await parse(idSchema, id)).toEqual({ errors: [[undefined, sentence]] });
  });
});

describe('newPlantFormSchema', () => {
  /** The fields of a form, as a browser sends them. */
  function formOf(fields: Record<string, string | Blob>) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value as string);
    return Object.fromEntries(form);
  }

  it('turns the texts of a form into a plant with an exact id', async () => {
    const { value } = await parse(
      newPlantFormSchema,
      formOf({ id: ' 9007199254740993 ', name: ' Rosa ', tag: 'shrub', submit: 'Create' }),
    );
    expect(value).toEqual({ id: 9007199254740993n, name: ' Rosa ', tag: 'shrub' });
    expectTypeOf(value!).toExtend<NewPlant>();
  });

  it('takes an empty tag for none, so that it is not stored', async () => {
    const { value } = await parse(newPlantFormSchema, formOf({ id: '1', name: 'Ilex', tag: '' }));
    expect(JSON.stringify({ ...value!, id: 1 })).toBe('{"id":1,"name":"Ilex"}');
    expect(await parse(newPlantFormSchema, formOf({ id: '1', name: '' }))).toEqual({
      value: { id: 1n, name: '' },
    });
  });

  it('has a sentence for each field that a person must correct', async () => {
    const id = ['id', sentence];
    const errorsOf = async (form: unknown) => (await parse(newPlantFormSchema, form)).errors;
    expect(await errorsOf(formOf({}))).toEqual([id, ['name', 'Enter a name.']]);
    for (const wrong of ['', 'twelve', '1.5', '9223372036854775808'])
      expect(await errorsOf(formOf({ id: wrong, name: 'Ilex' }))).toEqual([id]);
    expect(await errorsOf({ id: '1', name: 'a\0b', tag: '\ud800' })).toEqual([
      ['name', 'The name has a character that cannot be stored.'],
      ['tag', 'The tag has a character that cannot be stored.'],
    ]);
    const file = formOf({ id: '1', name: new Blob(['Ilex']), tag: new Blob([]) });
    expect(await errorsOf(file)).toEqual([
      ['name', 'Enter a name.'],
      ['tag', 'Enter a tag, or leave it empty.'],
    ]);
    expect(await errorsOf(7)).toEqual([[undefined, 'a form must be an object']]);
  });
});

it('plantSchema accepts the body of a 200 and drops other members', async () => {
  expect(await parse(plantSchema, { name: 'Ilex', id: 1 })).toEqual({ value: { name: 'Ilex' } });
  const errors = (['name', 'tag'] as const).map((name) => [name, memberRules[name]]);
  expect(await parse(plantSchema, { tag: 7 })).toEqual({ errors });
});

describe('issuesByField', () => {
  it('has the first sentence for each field, and nothing for a path that no field has', async () => {
    const { issues } = await newPlantFormSchema['~standard'].validate({ id: 'x', name: '\0' });
    expect(issuesByField(issues ?? [])).toEqual({
      id: sentence,
      name: 'The name has a character that cannot be stored.',
    });
    const others = [
      { message: 'first', path: ['id'] },
      { message: 'second', path: [{ key: 'id' }] },
      ...[{ message: 'none' }, { message: 'other', path: ['toString'] }],
    ];
    expect(issuesByField(others)).toEqual({ id: 'first' });
  });
});
