// Texts near the plant that clients send, read by the library and by a reader that shares no code with it: they agree.

import { createPlantStore, type NewPlant, type PlantStorage } from 'plant-store';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/errors/problems.js';
import { parsePlant } from '../../src/plant/json.js';
import { idSpellings } from '../support/contract.js';
import { isHeavy } from '../support/heavy.js';
import { createRequest } from '../support/plants.js';
import fc, { anyText } from '../support/properties.js';
import { randomOf, seed } from '../support/random.js';
import { readPlant } from './oracle.js';

/** What the library makes of a text, in the oracle's words. */
function ours(text: string): ReturnType<typeof readPlant> {
  try {
    return parsePlant(text);
  } catch (refusal) {
    // Otherwise it would be an internal error.
    expect([text, refusal]).toEqual([text, expect.any(Refusal)]);
    const { error } = (refusal as Refusal).toResponse();
    return error === 40001 ? 'body_not_json' : 'plant_invalid';
  }
}

function expectAgreement(text: string): NewPlant | string {
  const [mine, theirs] = [ours(text), readPlant(text)];
  const isSame =
    typeof mine === 'string' || typeof theirs === 'string'
      ? mine === theirs
      : mine.id === theirs.id && mine.name === theirs.name && mine.tag === theirs.tag;
  if (!isSame) expect({ text, outcome: mine }).toEqual({ text, outcome: theirs });
  return theirs;
}

/** Lists of texts without spaces, one behind another. */
const words = (text: string) => text.trim().split(/\s+/);
const keys = words(
  String.raw`"id" "name" "tag" "id" "name" "\u0069d" "\u0069\u0064" "n\u0061me" "x" "ID" "__proto__" ""`,
);
const colons = [':', ': ', ' : ', ':\t', ' :', '::', ''];
const commas = [',', ', ', ' , ', ',\n', ',,', ''];
const numbers = words('0 -0 1 -1 42 01 1.0 1.5 1e3 1E+2 12e-1 - +1 .5 1. 1e 0x1 1e400 10e-1 1e999999999');
const strings = [
  ...words(String.raw`"x" "" "\"id\":5" "a\"b" "a\\" "\u00e9" "\ud83c\udf39" "\ud83c" "\udf39x"`),
  ...words(String.raw`"\u0000" "\x" "\u12" "\ "é🌹" "\/\b\f\n\r\t"`),
  ...['"Rosa canina"', '"a\nb"', '"\u2028"', '"\ud83c"', '"\u007f"'],
];
const others = words('null true false [] {} [1,{"id":2}] {"id":3} nul [ ] {"a":[}');
/** Members around those of the plant. */
const fillers = [
  ...words(String.raw`"x":{"id":1,"name":2,"tag":[{"id":3}]} "x":"\",\"id\":1" "x":"\\" "i":2,"ids":3,"":4`),
  `"${'long'.repeat(30)}":"${'\\"'.repeat(40)}"`,
  `"n":[${'[],'.repeat(40)}{}]`,
];
const around = ['', '', '', ' ', '\n', '\t', '\r\n', '\ufeff', '\u00a0', 'x', '{', '}'];
const noise = [...'{}[]":,\\ \t\n0123456789-+.eEidnamtgux\u0000é'];
/** The ends of the doubles' integers and of int64. */
const edges = [0n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 18n, 10n ** 19n];

class Texts {
  constructor(readonly random: () => number) {}

  readonly pick = <T>(list: readonly T[]): T => list[Math.floor(this.random() * list.length)]!;
  /** The first few of a list are the usual ones. */
  readonly likely = <T>(list: readonly T[], usual: number): T =>
    this.pick(this.random() < 0.9 ? list.slice(0, usual) : list);
  readonly maybe = (share: number, text: () => string) => (this.random() < share ? text() : '');
  readonly upTo = (max: number) => Math.floor(this.random() * max);

  digits(): string {
    const near = () => String(this.pick(edges) + BigInt(this.upTo(7) - 3)).replace('-', '');
    const any = () =>
      Array.from({ length: 1 + this.upTo(22) }, () => this.pick([...'0000123456789'])).join('');
    return this.random() < 0.5 ? near() : any();
  }

  /** A number of JSON, mostly near the ends of what an id can be, in any notation. */
  number(): string {
    const whole = this.digits().replace(/^0+(?=.)/, '');
    const fraction = this.maybe(0.4, () => `.${this.digits()}`);
    const exponent = this.maybe(0.4, () => this.pick(['e', 'E', 'e+', 'e-', 'E-', 'e00']) + this.upTo(40));
    return this.maybe(0.3, () => '-') + whole + fraction + exponent;
  }

  /** Likely members, most of them right, and in every other text one character lost, added or changed. */
  nearAPlant(): string {
    const { random, pick, likely, maybe } = this;
    const names = random() < 0.7 ? ['"id"', '"name"', '"tag"'] : [1, 2, 3, 4].map(() => pick(keys));
    const members = names
      .slice(0, random() < 0.5 ? 2 : 4)
      .sort(() => random() - 0.5)
      .map((key) => {
        const number = random() < 0.5 ? this.number() : likely(numbers, 5);
        const value = key.includes('d"') || key.includes('64"') ? number : likely(strings, 6);
        return key + likely(colons, 3) + (random() < 0.95 ? value : pick(others));
      });
    if (random() < 0.1) members.splice(this.upTo(3), 0, pick(fillers));
    const text = `${likely(around, 3)}{${members.join(likely(commas, 3))}}${likely(around, 3)}`;
    if (random() < 0.5) return text;
    const at = this.upTo(text.length);
    return text.slice(0, at) + maybe(0.7, () => pick(noise)) + text.slice(at + this.upTo(2));
  }
}

const count = isHeavy ? 250_000 : 10_000;
test(`${count} texts near a plant are read as by the reference (SEED=${seed})`, () => {
  const texts = new Texts(randomOf(seed));
  let plants = 0;
  for (let i = 0; i < count; i++) if (typeof expectAgreement(texts.nearAPlant()) === 'object') plants++;
  // Or the texts would be too far from a plant to say anything.
  expect(plants).toBeGreaterThan(count / 10);
});

test('JSON of every shape is read as by the reference', () => {
  const start = fc.constantFrom('', '"id":1,', '"id":1,"name":"x",');
  const read = fc.property(fc.json(), start, fc.constantFrom('', '\t'), (json, before, indent) => {
    expectAgreement(json);
    expectAgreement(`{${before}"x":${json}}`);
    expectAgreement(`{"x":${JSON.stringify(JSON.parse(json), undefined, indent)},"id":7,"name":${json}}`);
    expectAgreement(`{"id":${json},"name":"x"}`);
  });
  fc.assert(read, { numRuns: isHeavy ? 20_000 : 500 });
});

/** A part of a plant as most clients write it, and now and then another in its place. */
const off = (usual: string, ...others: readonly string[]) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));
const space = off('', ' ', ...around, '  ', '\0');
const colon = off(':', '', '::');
/** What is between two members: often another member, which may be one of a plant once more. */
const comma = fc.oneof(
  off(',', '', ',,'),
  fc.constantFrom(
    ',',
    ',"id":2,',
    ',"\\u0069d":2,',
    ',"name":"a",',
    ',"tag":"a",',
    ',"x":1,',
    ',"__proto__":{"tag":"a"},',
  ),
);
const digits = fc.oneof(
  fc.nat().map(String),
  ...[10n ** 15n, 2n ** 53n, 2n ** 63n].map((edge) => fc.bigInt(edge - 3n, edge + 3n).map(String)),
  fc.constantFrom(...numbers, `0${'0'.repeat(15)}`, '"1"', '１'),
);
const string = fc.oneof(
  fc.string().map((text) => JSON.stringify(text)),
  fc.oneof(anyText, fc.string()).map((text) => `"${text}"`),
  fc.constantFrom(...strings),
);
const usual = [
  ...[
    space,
    off('{', '[', '{{', ''),
    off('"id"', '"ID"', '"\\u0069d"', '"name"', 'id'),
    colon,
    space,
    digits,
  ],
  ...[comma, space, off('"name"', '"tag"', '"nam\\u0065"'), colon, space, string],
];
const tag = [comma, space, off('"tag"', '"name"', '"t\\u0061g"', '"tag2"'), colon, space, string];
const end = [off('}', '', '}}', ',}', '},'), space];

const codes = { body_not_json: 40001, plant_invalid: 40002 };

test('a plant as most clients write it, and what is nearly one, is stored or rejected as by the reference', async () => {
  let stored: NewPlant | undefined;
  const create: PlantStorage['create'] = async (plant) => {
    stored = plant;
    return 'created';
  };
  const handle = createPlantStore({ create }, () => true);
  const texts = fc.oneof(
    ...[
      [...usual, ...end],
      [...usual, ...tag, ...end],
    ].map((parts) => fc.tuple(...parts)),
  );
  let [runs, plants] = [0, 0];
  const read = fc.asyncProperty(texts, async (parts) => {
    runs++;
    const body = parts.join('');
    stored = undefined;
    const { status, error } = await handle(createRequest('good', body));
    // A store reads a text without its byte order mark.
    const expected = readPlant(body.replace(/^\ufeff/, ''));
    if (typeof expected === 'object') plants++;
    const outcome = typeof expected === 'string' ? codes[expected] : expected;
    expect([body, error ?? stored, status]).toEqual([body, outcome, error ? 400 : 200]);
  });
  await fc.assert(read, { numRuns: isHeavy ? 100_000 : 5_000 });
  expect(plants).toBeGreaterThan(runs / 10);
});

const valid = [
  ...words(
    String.raw`0 -0 -1.5e-3 1E400 "\ud800" "\u0000" true false null [] {} [1,2,3] "\"" "\\" "}" "]" "," ":" [{}]`,
  ),
  ...words(`[[[]]] {"":{}} {"id":1,"id":2} {"{":"}","[":"]"} {"__proto__":null}`),
  ...[' [ ] ', '"\u2028\u2029"', '"\ud800"', '"\u007f\u0080"', '\t\r\n 1 \t\r\n'],
  ...['[0,-0,0.0,-0.0e0]', '{"constructor":{"prototype":1}}', `"${'\\\\'.repeat(999)}"`, '1'.repeat(999)],
];
test.each(valid)('valid JSON as another member is dropped: %j', (json) => {
  expect(expectAgreement(`{"x":${json},"id":1,"name":"a"}`)).toEqual({ id: 1n, name: 'a' });
});

describe('the digits of the id decide', () => {
  /** What can stand around the id. The first two are what most clients write. */
  const bodies = [
    '{"id":…,"name":"x"}',
    '{"id": …, "name": "x", "tag": "y"}',
    '{ "id": … , "name": "x" }',
    '{"name":"x","id":…}',
    '{"\\u0069\\u0064":…,"name":"x"}',
    '{"id":…,"name":"\\"id\\":5"}',
    '{"a":{"id":8},"list":[{"id":9}],"ID":7,"name":"\\"id\\":6","id":…,"b":{"id":5}}',
    '\n{\t"id"\r\n:\t …\n,"name":"x"}\n',
  ];
  test.each(bodies)('in every notation of the contract, in %s', (body) => {
    for (const [id, spelling, value] of idSpellings) {
      const read = ours(body.replace('…', spelling));
      expect([id, typeof read === 'string' ? read : read.id]).toEqual([id, value ?? 'plant_invalid']);
    }
  });
});

// Recursion would overflow the stack, and quadratic time would exceed the timeout of a test: no clock is needed to notice.
describe('reading takes linear time and no stack', () => {
  const size = isHeavy ? 1_000_000 : 300_000;
  const many = (text: string) => text.repeat(size);
  const one = { id: 1n, name: 'x' };
  test.each<[string, string, unknown]>([
    ['brackets', `{"id":1,"name":"x","deep":${many('[')}${many(']')}}`, one],
    ['braces', `{"id":1,"deep":${many('{"id":')}1${many('}')},"name":"x"}`, one],
    ['other members', `{${many('"a":1,')}"id":1,"name":"x"}`, one],
    ['other members, escaped', `{${many('"\\u0061":"\\"",')}"id":1,"name":"x"}`, one],
    ['duplicate ids', `{"name":"x"${many(',"id":1')}}`, 'plant_invalid'],
    ['escaped duplicate ids', `{"name":"x"${many(',"\\u0069d":1')}}`, 'plant_invalid'],
    ['backslashes in a name', `{"id":1.0,"name":"${many('\\\\')}"}`, { id: 1n, name: many('\\') }],
    ['escaped quotes in a name', `{"id":1.0,"name":"${many('\\"')}"}`, { id: 1n, name: many('"') }],
    ['escapes in one key', `{"${many('\\u0069')}":1,"id":1.0,"name":"x"}`, one],
    ['white space', `{${many(' ')}"id"${many('\n')}:${many('\t')}1.0,"name":"x"}`, one],
    ['numbers', `{"list":[${many('1e5,')}0],"id":1,"name":"x"}`, one],
    ['zeros before a one', `{"id":0.${many('0')}1,"name":"x"}`, 'plant_invalid'],
    ['zeros on both sides', `{"id":1${many('0')}.${many('0')}e-${size},"name":"x"}`, one],
    ['digits after zeros', `{"id":0.${many('0')}7e${size + 1},"name":"x"}`, { id: 7n, name: 'x' }],
    ['nines', `{"id":${many('9')},"name":"x"}`, 'plant_invalid'],
    ['digits of an exponent', `{"id":1e${many('9')},"name":"x"}`, 'plant_invalid'],
    [
      'characters of a plant that is nearly usual',
      `{"id":1,"name":"${many('x')}","tag":"${many(' ')}" }`,
      { id: 1n, name: many('x'), tag: many(' ') },
    ],
    ['characters of a name without its end', `{"id":1,"name":"${many('", "tag')}`, 'body_not_json'],
    ['open brackets', many('['), 'body_not_json'],
    ['open quotes', many('{"'), 'body_not_json'],
  ])(`for ${size} %s`, (_what, text, expected) => expect(ours(text)).toEqual(expected));
});
