import fc from 'fast-check';
import { createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test } from 'vitest';

/** The plant that a text became, or the message that says why it is no plant. */
async function read(body: string | Uint8Array): Promise<NewPlant | string> {
  const plants = new Map<bigint, NewPlant>();
  const errors: unknown[] = [];
  const handle = createPlantStore(memoryStorage(plants), () => true, {
    bodyLimit: 2 ** 26,
    onError: (error) => {
      errors.push(error);
    },
  });
  const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
  const answer = await handle({ method: 'POST', url: '/plants', headers, body });
  expect(errors).toEqual([]);
  const [plant] = plants.values();
  return plant ?? `${JSON.parse(answer.body).error} ${JSON.parse(answer.body).message}`;
}

/** Every spelling of a character in a JSON string, except the character itself. */
const escapesOf = (character: string) => {
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  return [`\\u${code}`, `\\u${code.toUpperCase()}`];
};
const spellingOf = (name: string) =>
  fc
    .tuple(...[...name].map((character) => fc.constantFrom(character, ...escapesOf(character))))
    .map((characters) => characters.join(''));

describe('repeated members, in any notation', () => {
  const pairs = fc
    .constantFrom('id', 'name', 'tag')
    .chain((name) => fc.tuple(fc.constant(name), spellingOf(name), spellingOf(name)));
  const filler = fc.constantFrom(
    '',
    '"x":{"id":1,"name":2,"tag":[{"id":3}]},',
    '"x":"\\",\\"id\\":1",',
    '"x":"\\\\",',
    '"\\u0069":1,"i":2,"ids":3,"":4,',
    `"${'long'.repeat(30)}":"${'\\"'.repeat(40)}",`,
    `"n":[${'[],'.repeat(40)}{}],`,
  );
  const values: Record<string, string> = { id: '1', name: '"a"', tag: '"b"' };

  test('are found', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, filler, filler, async ([name, first, second], before, between) => {
        const rest = Object.keys(values).filter((other) => other !== name);
        const others = rest.map((other) => `,"${other}":${values[other]}`).join('');
        const text = `{${before}"${first}":${values[name]},${between}"${second}":${values[name]}${others}}`;
        expect(await read(text)).toBe(`40002 Not a NewPlant: ${name} must not be repeated.`);
      }),
    );
  });

  test.each([
    ['id', '{"id":1,"id":1,"name":"a"}'],
    ['name', '{"id":1,"name":"a","name":"a"}'],
    ['tag', '{"id":1,"tag":"b","tag":"b"}'],
  ])('are found in the shortest text, as for %s', async (name, text) => {
    expect(await read(text)).toContain(`${name} must not be repeated.`);
  });

  test('are not found in values, which may be called like a member', async () => {
    const plant = { id: 1n, name: 'id', tag: 'name' };
    expect(await read('{"x":null,"tag":"name","name":"id","id":1}')).toEqual(plant);
    expect(await read('{"x":["id","name"],"id":1,"y":"tag","name":"id","tag":"name"}')).toEqual(plant);
  });

  test('are not found if a member comes once', async () => {
    const spellings = fc.tuple(spellingOf('id'), spellingOf('name'), spellingOf('tag'));
    await fc.assert(
      fc.asyncProperty(spellings, filler, filler, async ([id, name, tag], before, between) => {
        const text = `{${before}"${id}":1,${between}"${name}":"a","${tag}":"b"}`;
        expect(await read(text)).toEqual({ id: 1n, name: 'a', tag: 'b' });
      }),
    );
  });
});

test('every JSON object is read as JSON.parse reads it', async () => {
  const members = fc.dictionary(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('id', 'name', 'tag', '__proto__', 'toString')),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(members, fc.constantFrom(undefined, 1, '\t'), async (extra, indent) => {
      const { id: _id, name: _name, tag: _tag, ...others } = extra;
      const text = JSON.stringify({ ...others, id: 12, name: 'x' }, undefined, indent);
      expect(await read(text)).toEqual({ id: 12n, name: 'x' });
    }),
  );
});

test('every text is a plant, other JSON, or no JSON, as JSON.parse decides: never an internal error', async () => {
  const fragment = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"id"',
    '"name"',
    '"tag"',
    '1',
    '-',
    'e9',
    ' ',
    'x',
    '\\u00',
    'null',
    '\u0000',
    '\ud83c',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join('')),
      async (text) => {
        const plant = await read(text);
        expect(typeof plant === 'string' && plant.startsWith('40001')).toBe(!isJson(text));
      },
    ),
    { numRuns: 2000 },
  );
});

test('the fast path reads a plant as the general path does, which a leading new line forces', async () => {
  const space = fc.constantFrom('', ' ', '  ');
  const inString = fc.constantFrom(
    'a',
    '\\"',
    '\\\\',
    '\\u0041',
    '\\ud83c',
    '\\x',
    '\\',
    '"',
    '\n',
    '\u0000',
    'é',
    '\u2028',
    '🌱',
  );
  const string = fc.array(inString, { maxLength: 4 }).map((parts) => `"${parts.join('')}"`);
  const number = fc.constantFrom(
    '0',
    '-0',
    '7',
    '-7',
    '007',
    '1.0',
    '1e3',
    '9007199254740993',
    '-9223372036854775808',
  );
  const long = fc.constantFrom('9223372036854775808', '9'.repeat(19), '9'.repeat(20), 'null', 'true', '[]');
  const key = fc.constantFrom('id', 'id', 'name', 'name', 'tag', 'ID', '\\u0069d', '__proto__');
  const member = fc
    .tuple(space, key, space, space, fc.oneof(string, number, long), space)
    .map(([a, name, b, c, value, d]) => `${a}"${name}"${b}:${c}${value}${d}`);
  const plant = fc
    .tuple(number, string, fc.array(member, { maxLength: 2 }))
    .chain(([id, name, others]) =>
      fc.shuffledSubarray([`"id":${id}`, `"name":${name}`, ...others], { minLength: 1 }),
    );
  await fc.assert(
    fc.asyncProperty(plant, async (members) => {
      const text = `{${members.join(',')}}`;
      expect(await read(text)).toEqual(await read(`\n${text}`));
      expect(String(await read(text)).startsWith('40001')).toBe(!isJson(text));
    }),
    { numRuns: 5000 },
  );
});

test('all bytes give a plant or a client error: never an internal error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
      expect(await read(bytes)).toMatch(/^4000[12] /);
    }),
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Recursion would overflow the stack, and quadratic time would take hours: no clock is needed to notice.
describe('reading takes linear time and no stack', () => {
  const million = 1_000_000;
  test.each<[string, string, unknown]>([
    [
      'brackets',
      `{"id":1,"name":"x","deep":${'['.repeat(million)}${']'.repeat(million)}}`,
      { id: 1n, name: 'x' },
    ],
    [
      'braces',
      `{"id":1,"deep":${'{"id":'.repeat(million)}1${'}'.repeat(million)},"name":"x"}`,
      { id: 1n, name: 'x' },
    ],
    ['other members', `{${'"a":1,'.repeat(million)}"id":1,"name":"x"}`, { id: 1n, name: 'x' }],
    [
      'other members, escaped',
      `{${'"\\u0061":"\\"",'.repeat(million)}"id":1,"name":"x"}`,
      { id: 1n, name: 'x' },
    ],
    ['duplicate ids', `{"name":"x"${',"id":1'.repeat(million)}}`, /id must not be repeated/],
    ['escaped duplicate ids', `{"name":"x"${',"\\u0069d":1'.repeat(million)}}`, /id must not be repeated/],
    [
      'backslashes in a name',
      `{"id":1.0,"name":"${'\\\\'.repeat(million)}"}`,
      { id: 1n, name: '\\'.repeat(million) },
    ],
    [
      'escaped quotes in a name',
      `{"id":1.0,"name":"${'\\"'.repeat(million)}"}`,
      { id: 1n, name: '"'.repeat(million) },
    ],
    ['escapes in one key', `{"${'\\u0069'.repeat(million)}":1,"id":1.0,"name":"x"}`, { id: 1n, name: 'x' }],
    [
      'white space',
      `{${' '.repeat(million)}"id"${'\n'.repeat(million)}:${'\t'.repeat(million)}1.0,"name":"x"}`,
      { id: 1n, name: 'x' },
    ],
    ['numbers', `{"list":[${'1e5,'.repeat(million)}0],"id":1,"name":"x"}`, { id: 1n, name: 'x' }],
    ['zeros before a one', `{"id":0.${'0'.repeat(million)}1,"name":"x"}`, /id must be/],
    [
      'zeros on both sides',
      `{"id":1${'0'.repeat(million)}.${'0'.repeat(million)}e-${million},"name":"x"}`,
      { id: 1n, name: 'x' },
    ],
    [
      'digits after zeros',
      `{"id":0.${'0'.repeat(million)}7e${million + 1},"name":"x"}`,
      { id: 7n, name: 'x' },
    ],
    ['nines', `{"id":${'9'.repeat(million)},"name":"x"}`, /id must be/],
    ['digits of an exponent', `{"id":1e${'9'.repeat(million)},"name":"x"}`, /id must be/],
    ['open brackets', '['.repeat(million), /^40001/],
    ['open quotes', '{"'.repeat(million), /^40001/],
  ])('for a million %s', async (_what, body, expected) => {
    const plant = await read(body);
    if (expected instanceof RegExp) expect(plant).toMatch(expected);
    else expect(plant).toEqual(expected);
  });
});
