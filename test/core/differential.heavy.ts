// A million texts near the plant that clients usually send, read by the library and by a reader that shares no code with
// it. They must agree on every text.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plantOf } from '../../src/plant/from-body.js';
import type { Refusal } from '../../src/problems.js';
import { randomOf, seed } from '../support/random.js';
import { readPlant } from './oracle.js';

/** What the library makes of a text, in the oracle's words. */
function ours(text: string): ReturnType<typeof readPlant> {
  try {
    return plantOf(text);
  } catch (refusal) {
    const { error } = JSON.parse((refusal as Refusal).toResponse().body);
    return error === 40001 ? 'body_not_json' : 'plant_invalid';
  }
}

function expectAgreement(text: string): void {
  const [mine, theirs] = [ours(text), readPlant(text)];
  if (typeof mine === 'string' || typeof theirs === 'string') {
    if (mine !== theirs) expect({ text, outcome: mine }).toEqual({ text, outcome: theirs });
    return;
  }
  if (mine.id !== theirs.id || mine.name !== theirs.name || mine.tag !== theirs.tag) {
    expect({ text, ...mine }).toEqual({ text, ...theirs });
  }
}

const keys = [
  '"id"',
  '"name"',
  '"tag"',
  '"id"',
  '"name"',
  '"\\u0069d"',
  '"n\\u0061me"',
  '"x"',
  '"__proto__"',
  '""',
];
const colons = [':', ': ', ' : ', ':\t', ' :', '::', ''];
const commas = [',', ', ', ' , ', ',\n', ',,', ''];
const numbers = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '42',
    '01',
    '1.0',
    '1.5',
    '1e3',
    '1E+2',
    '12e-1',
    '-',
    '+1',
    '.5',
    '1.',
    '1e',
    '0x1',
  ],
  ...[
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '1e400',
    '10e-1',
  ],
];
const strings = [
  ...[
    '"x"',
    '""',
    '"Rosa canina"',
    '"a\\"b"',
    '"a\\\\"',
    '"\\u00e9"',
    '"\\ud83c\\udf39"',
    '"\\ud83c"',
    '"\\udf39x"',
  ],
  ...[
    '"\\u0000"',
    '"\\x"',
    '"\\u12"',
    '"\\',
    '"a\nb"',
    '"é🌹"',
    '"\u2028"',
    '"\ud83c"',
    '"\u007f"',
    '"\\/\\b\\f\\n\\r\\t"',
  ],
];
const others = ['null', 'true', 'false', '[]', '{}', '[1,{"id":2}]', '{"id":3}', 'nul', '[', ']', '{"a":[}'];
const around = ['', '', '', ' ', '\n', '\t', '\r\n', '\ufeff', '\u00a0', 'x', '{', '}'];
const noise = [...'{}[]":,\\ \t\n0123456789-+.eEidnamtgux\u0000é'];

/** A text near a plant: likely members, most of them right, and in every other text one character lost, added or changed. */
function nearAPlant(random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  // The first few of a list are the usual ones.
  const likely = <T>(list: readonly T[], usual: number): T =>
    pick(random() < 0.9 ? list.slice(0, usual) : list);
  const names =
    random() < 0.7 ? ['"id"', '"name"', '"tag"'] : [pick(keys), pick(keys), pick(keys), pick(keys)];
  const members = names
    .slice(0, random() < 0.5 ? 2 : 4)
    .sort(() => random() - 0.5)
    .map((key) => {
      const values = key.includes('d"') ? likely(numbers, 5) : likely(strings, 6);
      return key + likely(colons, 3) + (random() < 0.95 ? values : pick(others));
    });
  const text = `${likely(around, 3)}{${members.join(likely(commas, 3))}}${likely(around, 3)}`;
  if (random() < 0.5) return text;
  const at = Math.floor(random() * text.length);
  return text.slice(0, at) + (random() < 0.7 ? pick(noise) : '') + text.slice(at + Math.floor(random() * 2));
}

test(`a million texts near a plant are read as by the reference, seed ${seed}`, { timeout: 300_000 }, () => {
  const random = randomOf(seed);
  let plants = 0;
  for (let i = 0; i < 1_000_000; i++) {
    const text = nearAPlant(random);
    expectAgreement(text);
    if (typeof ours(text) === 'object') plants++;
  }
  // Or the texts would be too far from a plant to say anything.
  expect(plants).toBeGreaterThan(100_000);
});

test('JSON of every shape is read as by the reference', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('', '"id":1,', '"id":1,"name":"x",'), (json, before) => {
      expectAgreement(json);
      expectAgreement(`{${before}"x":${json}}`);
      expectAgreement(`{"x":${json},"id":7,"name":${json}}`);
      expectAgreement(`{"id":${json},"name":"x"}`);
    }),
    { numRuns: 20_000 },
  );
});

const valid = [
  ...[
    '0',
    '-0',
    '-1.5e-3',
    '1E400',
    '"\\ud800"',
    '"\\u0000"',
    'true',
    'false',
    'null',
    '[]',
    '{}',
    '[[[]]]',
    '{"":{}}',
  ],
  ...[
    '[1,2,3]',
    '{"a":1,"a":2}',
    '{"id":1,"id":2}',
    ' [ ] ',
    '"\\""',
    '"\\\\"',
    '"}"',
    '"]"',
    '","',
    '":"',
    '[{}]',
  ],
  ...[
    '"\u2028\u2029"',
    '"\ud800"',
    '"\u007f\u0080"',
    '{"{":"}","[":"]"}',
    `"${'\\\\'.repeat(999)}"`,
    '1'.repeat(999),
  ],
  ...['[0,-0,0.0,-0.0e0]', '{"__proto__":null}', '{"constructor":{"prototype":1}}', '\t\r\n 1 \t\r\n'],
];
const invalid = [
  ...[
    '',
    '01',
    '-',
    '+1',
    '.1',
    '1.',
    '1e',
    '1e+',
    '--1',
    '0x1',
    'NaN',
    'Infinity',
    'undefined',
    'True',
    'nul',
  ],
  ...[
    "'x'",
    '"',
    '"\\"',
    '"\\x"',
    '"\\u123"',
    '"\\u12g4"',
    '"a\nb"',
    '"a\tb"',
    '"\u0000"',
    '[',
    ']',
    '{',
    '}',
    '[}',
    '{]',
  ],
  ...[
    '[1,]',
    '[,1]',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{1:2}',
    '[1 2]',
    '{"a" 1}',
    '"a""b"',
    '//x\n1',
  ],
  ...[
    '/* x */1',
    '\u00a01',
    '\ufeff1',
    '1\u2028',
    '[1]]',
    '{}}',
    '1;',
    '"\\u{41}"',
    '\v1',
    '\f1',
    '1_0',
    '1n',
    '`x`',
  ],
];

test.each(valid)('valid JSON as another member is dropped: %j', (json) => {
  const text = `{"x":${json},"id":1,"name":"a"}`;
  expect(ours(text)).toEqual({ id: 1n, name: 'a' });
  expectAgreement(text);
});

test.each(invalid)('invalid JSON as another member is rejected: %j', (json) => {
  const text = `{"id":1,"name":"a","x":${json}}`;
  expect(ours(text)).toBe('body_not_json');
  expectAgreement(text);
});
