import { expect } from 'vitest';
import { type ContractCase, type contractSetup, faultsOf, plantStoredBy } from './contract.js';

/** Sends a case, and checks its response, the errors of `onError`, and the stored plants. */
export async function expectCase(
  contractCase: ContractCase,
  { errors, stored }: Pick<ReturnType<typeof contractSetup>, 'errors' | 'stored'>,
  send: Parameters<typeof faultsOf>[1],
): Promise<void> {
  const { expected, before, request } = contractCase;
  const reported = errors.length;
  expect(await faultsOf(contractCase, send)).toEqual([]);
  const codes = errors.slice(reported).map(({ code }) => code);
  expect(codes).toEqual(expected.status >= 500 ? [expected.error] : []);
  // A case with its own token has no tenant.
  if (request.headers?.authorization) return;
  const plants = stored(contractCase);
  expect(plants).toHaveLength((before ? 1 : 0) + (expected.status === 200 ? 1 : 0));
  const plant = plantStoredBy(contractCase);
  if (plant) expect(plants.at(-1)).toEqual(plant);
}
