import { createPlantStore } from 'plant-store';
import { describe, expect, test } from 'vitest';
import { type CompleteRequest, contractCases, contractSetup, faultsOf } from '../support/contract.js';

describe('the contract table, on the bare handler', () => {
  const { storage, verifyToken, options, errors, stored } = contractSetup();
  const handle = createPlantStore(storage, verifyToken, options);

  async function send({ path, ...request }: CompleteRequest) {
    const { status, headers, body } = await handle({ ...request, url: path });
    return { status, headers: new Headers(headers), text: body };
  }

  test('ids are unique, and may be used in a token', () => {
    const ids = contractCases.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  test.each(contractCases)('$id: $title', async (contractCase) => {
    const { expected, before, request } = contractCase;
    const reported = errors.length;
    expect(await faultsOf(contractCase, send)).toEqual([]);
    expect(errors.length - reported).toBe(expected.status >= 500 ? 1 : 0);
    if (request.headers?.authorization) return;
    const plants = stored(contractCase);
    expect(plants).toHaveLength((before ? 1 : 0) + (expected.status === 200 ? 1 : 0));
    if (expected.stores) expect(plants.at(-1)).toEqual(expected.stores);
  });
});
