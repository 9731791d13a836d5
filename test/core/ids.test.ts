import fc from 'fast-check';
import { createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test } from 'vitest';
import { idSpellings } from '../support/contract.js';

/** The id that the storage gets for this body; `undefined` if the plant is invalid. */
async function idOf(body: string): Promise<bigint | undefined> {
  const plants = new Map<bigint, NewPlant>();
  const handle = createPlantStore(memoryStorage(plants), () => true, { bodyLimit: 2 ** 26 });
  const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
  const answer = await handle({ method: 'POST', url: '/plants', headers, body });
  if (answer.status === 200) return [...plants.keys()][0];
  expect(JSON.parse(answer.body).error).toBe(40002);
  return undefined;
}

/** A JSON number, in its parts. */
interface Spelling {
  readonly sign: '' | '-';
  readonly whole: string;
  readonly fraction: string | undefined;
  readonly exponent: { readonly mark: string; readonly digits: string } | undefined;
}

function spell({ sign, whole, fraction, exponent }: Spelling): string {
  return `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent ? exponent.mark + exponent.digits : ''}`;
}

/**
 * The integer that the digits spell, found by moving the decimal point as on paper. It shares nothing with the code it
 * judges: no double, no counting of zeros.
 */
function oracle({ sign, whole, fraction = '', exponent }: Spelling): bigint | undefined {
  const shift = BigInt(exponent ? exponent.mark.slice(1) + exponent.digits : 0);
  let before = whole;
  let after = fraction;
  for (let i = 0n; i < shift; i++) {
    before += after[0] ?? '0';
    after = after.slice(1);
  }
  for (let i = 0n; i > shift; i--) {
    after = (before.at(-1) ?? '0') + after;
    before = before.slice(0, -1);
  }
  if (/[1-9]/.test(after)) return undefined;
  const value = BigInt(before || '0') * (sign === '-' ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789', '0', '0', '0'), minLength: 1, maxLength });
const whole = fc.oneof(
  digits(22).map((text) => text.replace(/^0+(?=.)/, '')),
  // Near the ends of the doubles, of the safe integers and of int64.
  fc
    .tuple(fc.constantFrom(0n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 18n, 10n ** 19n), fc.bigInt(-3n, 3n))
    .map(([edge, step]) => String(edge + step).replace('-', '')),
);
const spelling: fc.Arbitrary<Spelling> = fc.record({
  sign: fc.constantFrom('' as const, '-' as const),
  whole,
  fraction: fc.option(digits(22), { nil: undefined }),
  exponent: fc.option(
    fc.record({
      mark: fc.constantFrom('e', 'E', 'e+', 'E+', 'e-', 'E-'),
      digits: fc.oneof(
        fc.nat({ max: 40 }).map(String),
        fc.nat({ max: 40 }).map((n) => `00${n}`),
      ),
    }),
    { nil: undefined },
  ),
});

/** What can stand around the id. The first of each is what most clients write; the library has a fast path for it. */
const bodies: readonly (readonly [string, (id: string) => string])[] = [
  ['{"id":…,"name":"x"}', (id) => `{"id":${id},"name":"x"}`],
  ['{"id": …, "name": "x", "tag": "y"}', (id) => `{"id": ${id}, "name": "x", "tag": "y"}`],
  ['{ "id": … , "name": "x" }', (id) => `{ "id": ${id} , "name": "x" }`],
  ['the id last', (id) => `{"name":"x","id":${id}}`],
  ['an escaped key', (id) => `{"\\u0069\\u0064":${id},"name":"x"}`],
  ['an escape in the name', (id) => `{"id":${id},"name":"\\"id\\":5"}`],
  [
    'other ids around it',
    (id) => `{"a":{"id":8},"list":[{"id":9}],"ID":7,"name":"\\"id\\":6","id":${id},"b":{"id":5}}`,
  ],
  ['white space everywhere', (id) => `\n{\t"id"\r\n:\t ${id}\n,"name":"x"}\n`],
];

describe('the digits of the id', () => {
  test('are tested in at least thirty notations, valid and invalid', () => {
    expect(idSpellings.filter(([, , value]) => value !== undefined).length).toBeGreaterThanOrEqual(30);
    expect(idSpellings.filter(([, , value]) => value === undefined).length).toBeGreaterThanOrEqual(15);
  });

  test.each(bodies)('decide in every notation of the table, in %s', async (_where, body) => {
    for (const [id, text, value] of idSpellings) expect([id, await idOf(body(text))]).toEqual([id, value]);
  });

  test.each(bodies)('decide in any notation at all, in %s', async (_where, body) => {
    await fc.assert(
      fc.asyncProperty(spelling, async (parts) => {
        expect(await idOf(body(spell(parts)))).toBe(oracle(parts));
      }),
      { numRuns: 500 },
    );
  });

  test('decide for every int64 in the usual notation', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
        fc.constantFrom(...bodies),
        async (id, [, body]) => {
          expect(await idOf(body(String(id)))).toBe(id);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('decide for every integer outside int64, which is rejected', async () => {
    const beyond = fc.oneof(fc.bigInt(2n ** 63n, 2n ** 70n), fc.bigInt(-(2n ** 70n), -(2n ** 63n) - 1n));
    await fc.assert(
      fc.asyncProperty(beyond, fc.constantFrom(...bodies), async (id, [, body]) => {
        expect(await idOf(body(String(id)))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});
