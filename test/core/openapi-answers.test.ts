import { createPlantStore } from 'plant-store';
import { openapi } from 'plant-store/openapi';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/errors/problems.js';
import { parsePlant } from '../../src/plant/json.js';
import { contractSetup } from '../support/contract.js';
import fc, { anyText } from '../support/properties.js';
import { validators } from './openapi-documented.js';

const document = openapi();

describe("the document's NewPlant and the library's own schema", () => {
  const documented = validators(document)('/components/schemas/NewPlant');

  const integer = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 1, -1, 2 ** 53 - 1, -(2 ** 53 - 1)));
  const wrong = fc.jsonValue();
  const someKeys = { requiredKeys: [] };
  // The document forbids U+0000 and lone surrogates in words, which no schema can say.
  const string = anyText.filter((text) => !/\p{Surrogate}/u.test(text) && !text.includes('\0'));
  const text = fc.oneof(string, wrong);
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.record({ id: integer, name: string, tag: string }, someKeys) },
    fc.record({ id: fc.oneof(integer, fc.double(), wrong), name: text, tag: text, more: wrong }, someKeys),
    wrong,
  );

  it('accept the same JSON', () => {
    fc.assert(
      fc.property(value, (value) => {
        const text = JSON.stringify(value);
        if (/\\u0000|\\ud[89a-f]/i.test(text)) return;
        expect(accepts(text)).toBe(documented(JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it('accept the plants that the document shows', () => {
    const { requestBody, responses } = document.paths['/plants'].post;
    const { rose, untagged } = requestBody.content['application/json'].examples;
    for (const { value } of [rose, untagged]) {
      expect(documented(value)).toBe(true);
      expect(accepts(JSON.stringify(value))).toBe(true);
      expect(value.name).not.toBe('');
    }
    expect([rose.value.tag !== '', 'tag' in untagged.value]).toEqual([true, false]);
    const { name, tag } = rose.value;
    expect(responses['200'].content['application/json'].example).toEqual({ name, tag });
  });

  it('name the methods that a 405 names', async () => {
    const { storage, verifyToken } = contractSetup();
    const handle = createPlantStore(storage, verifyToken);
    const { headers } = await handle({ method: 'GET', url: '/plants', headers: {} });
    expect(document['x-responses']['405'].headers.Allow).toMatchObject({ example: headers.allow });
  });
});

function accepts(text: string): boolean {
  try {
    parsePlant(text);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    return false;
  }
}
