import { Ajv2020 } from 'ajv/dist/2020.js';
import { openapi } from 'plant-store/openapi';
import { describe, expect, it } from 'vitest';
import { errorNumbers, type Problem } from '../../src/errors/numbers.js';
import { sentences } from '../../src/errors/problems.js';

const document = openapi();
const { post } = document.paths['/plants'];

describe('the document', () => {
  it.each(Object.entries(document.components.schemas))(
    'describes %s in JSON Schema 2020-12',
    (_name, schema) => {
      const ajv = new Ajv2020();
      expect(ajv.validateSchema(schema)).toBe(true);
      expect(ajv.validateSchema({ ...schema, type: 'plant' })).toBe(false);
    },
  );

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document);
  });

  it('names the given servers, and no others', () => {
    expect(document.servers).toEqual([{ url: '/' }]);
    expect(openapi({ servers: [{ url: '/api' }] }).servers).toEqual([{ url: '/api' }]);
  });
});

it('every title, summary and description has a text', () => {
  const empty: string[] = [];
  JSON.stringify(document, (key, value) => {
    if (/^(title|summary|description)$/.test(key) && value === '') empty.push(key);
    return value;
  });
  expect(empty).toEqual([]);
});

describe('the contract as it was published', () => {
  it('is version 1.0.0 in OpenAPI 3.1.0 under MIT, for bearer tokens', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0', license: { name: 'MIT' } },
    });
    expect(document.security).toEqual([{ bearerAuth: [] }]);
    expect(document.components.securitySchemes).toEqual({ bearerAuth: { type: 'http', scheme: 'bearer' } });
  });

  it('is one operation, createPlant at POST /plants, without parameters', () => {
    expect(Object.keys(document.paths)).toEqual(['/plants']);
    expect(Object.keys(document.paths['/plants'])).toEqual(['post']);
    expect(post.operationId).toBe('createPlant');
    expect(post).not.toHaveProperty('parameters');
    expect(post.tags).toEqual(document.tags.map(({ name }) => name));
    expect(post.security).toEqual(document.security);
  });

  it('accepts a NewPlant and returns a Plant or an Error', () => {
    expect(post.requestBody).toMatchObject({ required: true, content: json('NewPlant') });
    expect(post.responses[200]).toMatchObject({ description: 'plant response', content: json('Plant') });
    expect(post.responses[400]).toMatchObject({ description: 'unexpected error', content: json('Error') });
    for (const { content } of [post.requestBody, ...Object.values(post.responses)]) {
      expect(Object.keys(content)).toEqual(['application/json']);
    }
  });

  it('has the three schemas', () => {
    const { description: _table, ...failure } = document.components.schemas.Error;
    expect({ ...document.components.schemas, Error: failure }).toEqual({
      Plant: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'The name of the plant' },
          tag: { type: 'string', description: 'Tag that specifies the type of the plant' },
        },
      },
      NewPlant: {
        allOf: [
          { $ref: '#/components/schemas/Plant' },
          {
            type: 'object',
            required: ['id'],
            properties: {
              id: { type: 'integer', format: 'int64', description: 'Identification number of the plant' },
            },
          },
        ],
      },
      Error: {
        type: 'object',
        required: ['error', 'message'],
        properties: {
          error: { type: 'integer', format: 'int32', description: 'Numeric error value' },
          message: { type: 'string', description: 'Text of the error' },
        },
      },
    });
  });
});

describe('in the document', () => {
  const answers = { ...post.responses, ...document['x-responses'] };

  it.each(Object.entries(errorNumbers))(
    '%s (%i) is described under its status, and in the Error schema',
    (name, error) => {
      const message = sentences[name as Problem];
      const { content } = answers[Math.trunc(error / 100) as 400];
      expect(content['application/json'].examples).toMatchObject({
        [name]: {
          summary: expect.stringContaining(message),
          description: expect.stringMatching(/[Ss]end the request again/),
          value: { error, message },
        },
      });
      expect(document.components.schemas.Error.description).toContain(
        `\n| ${error} | \`${name}\` | ${message} |`,
      );
    },
  );

  it('a 503 says whether the plant may be stored', () => {
    const { busy, timed_out } = answers[503].content['application/json'].examples;
    expect([busy!.description, timed_out!.description]).toEqual([
      expect.stringContaining('nothing was stored'),
      expect.stringContaining('may be stored'),
    ]);
  });

  it('no other way to fail is described', () => {
    const described = Object.values(answers).flatMap(({ content: { 'application/json': media } }) =>
      'examples' in media ? Object.keys(media.examples) : [],
    );
    expect(described.sort()).toEqual(Object.keys(errorNumbers).sort());
  });
});

function json(schema: string) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}
