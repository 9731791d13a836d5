// The types of examples/clients/openapi-fetch.ts are what openapi-typescript really writes, but for the id.
import { openapi } from 'plant-store/openapi';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { load } from '../support/installed.js';
import { root } from '../support/root.js';

const { default: openapiTS, astToString } = await load('openapi-typescript');

/** As examples/README.md has it. */
const transform = ({ format }: { format?: string }) =>
  format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined;

it('plant-types.ts is what openapi-typescript writes (npm run test:heavy -- plant-types -u writes it anew)', async () => {
  // Without descriptions, because they change more often than the types.
  const document = JSON.stringify(openapi(), (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
  const head =
    '// Made by openapi-typescript, with int64 as bigint (examples/README.md has the line). Do not edit.\n';
  const text = head + astToString(await openapiTS(document, { transform }));
  await expect(text).toMatchFileSnapshot(`${root}examples/clients/plant-types.ts`);
  expect(text).toContain('id: bigint;');
});
