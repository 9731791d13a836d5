/**
 * The contract table of `test/published/host-cases.json`, with the setup that it needs: a verifier and a storage that throw
 * on demand. This file imports no test runner and no `node:` module, so that the same table runs on the bare handler,
 * over sockets, and in any runtime.
 */
import {
  InsufficientScope,
  type NewPlant,
  PlantRefused,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  RolledBack,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import {
  type Answer,
  type CaseRequest,
  type CompleteRequest,
  type ContractCase,
  contractCases,
  faultsOf as faultsOfCase,
  requestOf as requestOfCase,
} from '../published/host-cases.js';

export { type Answer, type CompleteRequest, type ContractCase, contractCases };

/** The largest body that these stores take, in bytes: the default. */
export const bodyLimit = 2 ** 20;

/** The caller of a token. Each case has its own tenant, so that all cases can share a server in any order. */
interface Caller {
  readonly tenant: string;
}

/** The storage, the verifier and the options that the table needs: one set for each host. */
export function contractSetup() {
  const tenants = new Map<string, Map<bigint, NewPlant>>();
  /** What `onError` got. */
  const errors: { error: unknown; request: PlantRequest; code: number }[] = [];
  const storage: PlantStorage<Caller> = {
    async create(plant, { caller }) {
      if (plant.name === 'refuse me') throw new PlantRefused('name is on the list of refused names');
      if (plant.name === 'be busy') throw new StorageBusy();
      if (plant.name === 'fail') throw new Error('inside: the disk is full');
      if (plant.name === 'violate a constraint')
        throw new RolledBack('rejected', new Error('inside: a CHECK'));
      if (plant.name === 'deadlock') throw new RolledBack('conflict', new Error('inside: a deadlock'));
      if (plant.name === 'answer nonsense') return 'inside' as 'created';
      const plants = tenants.get(caller.tenant) ?? new Map<bigint, NewPlant>();
      tenants.set(caller.tenant, plants);
      if (plants.has(plant.id)) return 'taken';
      plants.set(plant.id, plant);
      return 'created';
    },
  };
  const verifyToken: VerifyToken<Caller> = (token) => {
    if (token === 'scopeless') throw new InsufficientScope('plants:write plants:read');
    if (token === 'outage') throw new Error('inside: the token service is down');
    if (token === 'promised-outage') return Promise.reject(new Error('inside: the token service is down'));
    if (token === 'promised-scopeless') return Promise.reject(new InsufficientScope('plants:write'));
    if (token === 'null') return null;
    if (token === 'undefined') return undefined;
    if (token === 'promised-null') return Promise.resolve(null);
    if (token.startsWith('promised-good')) return Promise.resolve({ tenant: token });
    return token.startsWith('good') && { tenant: token };
  };
  const options: PlantStoreOptions = {
    onError: (error, request, code) => void errors.push({ error, request, code }),
  };
  /** The plants that a case stored. */
  const stored = ({ id }: Pick<ContractCase, 'id'>) => [...(tenants.get(tokenOf(id))?.values() ?? [])];
  return { storage, verifyToken, options, errors, stored };
}

/** The token of a case: `good.<id>`. */
function tokenOf(id: string): string {
  return `good.${id}`;
}

/** A complete request of a case. */
export function requestOf({ id }: Pick<ContractCase, 'id'>, request: CaseRequest): CompleteRequest {
  return requestOfCase(tokenOf(id), request);
}

/** Sends a case and lists the faults of the response, and of its message. */
export async function faultsOf(
  contractCase: ContractCase,
  send: (request: CompleteRequest) => Promise<Answer>,
): Promise<string[]> {
  let text = '';
  const faults = await faultsOfCase(contractCase, tokenOf(contractCase.id), async (request) => {
    const answer = await send(request);
    text = answer.text;
    return answer;
  });
  const { message = '.' } = contractCase.expected;
  if (contractCase.expected.error && !new RegExp(message).test(JSON.parse(text).message)) {
    faults.push(`the response is ${text}, and its message must match /${message}/`);
  }
  if (text.includes('inside')) faults.push(`the response reveals internals: ${text}`);
  return faults;
}

/** The plant that the storage must have received. */
export function plantStoredBy({ expected: { stores } }: ContractCase): NewPlant | undefined {
  return stores && { ...stores, id: BigInt(stores.id) };
}

/** Spellings of an id, and the integer that each is; `undefined` if it is no int64. */
export const idSpellings: readonly (readonly [id: string, spelling: string, value: bigint | undefined])[] =
  contractCases
    .filter(({ id }) => id.startsWith('id-') && !id.startsWith('id-taken'))
    .map((contractCase) => {
      const body = new TextDecoder().decode(requestOf(contractCase, contractCase.request).body);
      const [, spelling = ''] = /^\{"id":(.*),"name":"x"\}$/.exec(body) ?? [];
      return [contractCase.id, spelling, plantStoredBy(contractCase)?.id];
    });
