import { createPlantStore } from 'plant-store';
import { openapi } from 'plant-store/openapi';
import { describe, expect, test } from 'vitest';
import { type CompleteRequest, contractCases, contractSetup } from '../support/contract.js';
import { expectCase } from '../support/expect-case.js';
import { withIds } from '../support/titled.js';
import { undocumented } from './openapi-documented.js';

describe('the contract on the bare handler, each response of which is documented', () => {
  const document = openapi();
  const setup = contractSetup();
  const handle = createPlantStore(setup.storage, setup.verifyToken, setup.options);

  async function send({ path, ...request }: CompleteRequest) {
    const { status, headers, body } = await handle({ ...request, url: path });
    const answer = { status, headers: new Headers(headers), text: body };
    expect(undocumented(document, answer, request.method === 'HEAD')).toEqual([]);
    return answer;
  }

  test('ids are unique, and may be used in a token', () => {
    const ids = contractCases.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  test.each(withIds(contractCases))('%s', (_, contractCase) => expectCase(contractCase, setup, send));
});
