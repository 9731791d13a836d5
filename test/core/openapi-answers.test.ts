import { createPlantStore, type PlantResponse } from 'plant-store';
import { openapi } from 'plant-store/openapi';
import { describe, expect, it } from 'vitest';
import { parsePlant } from '../../src/plant/json.js';
import { isMember } from '../../src/plant/plant.js';
import { type Problem, problems, Refusal } from '../../src/problems.js';
import { type Answer, contractSetup } from '../support/contract.js';
import fc, { anyText } from '../support/properties.js';
import { undocumented, validators } from './openapi-documented.js';

const document = openapi();

describe('each response is documented', () => {
  // contract.test.ts checks those of the table, which cannot provoke every problem: not a deadline, for example.
  it.each(Object.keys(problems) as Problem[])('%s is documented, with any cause', (problem) => {
    const headers: Record<number, Record<string, string>> = {
      401: { 'www-authenticate': 'Bearer realm="plants"' },
      403: { 'www-authenticate': 'Bearer realm="plants"' },
      405: { allow: 'POST' },
    };
    const status = Math.trunc(problems[problem][0] / 100);
    const response = new Refusal(problem, undefined, headers[status]).toResponse();
    expect(undocumented(document, answerOf(response))).toEqual([]);
  });
});

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

  it('have the same members, and require the same', () => {
    const { Plant, NewPlant } = document.components.schemas;
    const [, own] = NewPlant.allOf as [unknown, { properties: object; required: string[] }];
    const members = { ...own.properties, ...Plant.properties };
    expect(Object.keys(members).sort()).toEqual(Object.keys(isMember).sort());
    const required = [...own.required, ...Plant.required].sort();
    const needed = Object.entries(isMember).filter(([, isValid]) => !isValid(undefined));
    expect(required).toEqual(needed.map(([name]) => name).sort());
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

function answerOf({ status, headers, body }: PlantResponse): Answer {
  return { status, headers: new Headers(headers), text: body };
}
