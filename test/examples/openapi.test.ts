// The operation in the document of an app.
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { createPlant } from '../support/plants.js';
import { exampleUrl, runExamplesHere } from './recipe.js';

runExamplesHere();

it('the app serves one valid document, in which its own schemas and its own scheme stay', async () => {
  const url = await exampleUrl(import('../../examples/around/openapi.js'));
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get?: object; post: object }>;
    components: object;
  };
  // An app's own document may be older.
  for (const version of ['3.1.0', '3.0.3'])
    expect(await new Validator().validate(structuredClone({ ...document, openapi: version }))).toEqual({
      valid: true,
    });
  expect(Object.keys(document.paths)).toEqual(['/api/beds', '/api/plants']);
  expect(document.paths['/api/plants']?.get).toMatchObject({ operationId: 'listPlants' });
  expect(document.paths['/api/plants']?.post).toMatchObject({
    security: [{ jwt: [] }],
    responses: {
      400: { content: { 'application/json': { schema: { $ref: '#/components/schemas/PlantStoreError' } } } },
    },
  });
  expect(document.components).toMatchObject({
    schemas: { Error: { type: 'string' }, PlantStoreError: { type: 'object' } },
    securitySchemes: { jwt: { bearerFormat: 'JWT' } },
  });
  expect(await createPlant(`${url}/api`, '{"id":1,"name":"Rosa canina"}')).toMatchObject({ status: 200 });
});
