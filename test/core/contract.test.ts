import { createPlantStore } from 'plant-store';
import { describe, expect, test } from 'vitest';
import { type CompleteRequest, contractCases, contractSetup } from '../support/contract.js';
import { expectCase } from '../support/expect-case.js';
import { withIds } from '../support/titled.js';

describe('the contract on the bare handler', () => {
  const setup = contractSetup();
  const handle = createPlantStore(setup.storage, setup.verifyToken, setup.options);

  async function send({ path, ...request }: CompleteRequest) {
    const { status, headers, body } = await handle({ ...request, url: path });
    return { status, headers: new Headers(headers), text: body };
  }

  test('ids are unique, and may be used in a token', () => {
    const ids = contractCases.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  test.each(withIds(contractCases))('%s', (_, contractCase) => expectCase(contractCase, setup, send));
});
