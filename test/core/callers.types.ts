/** How `Caller` finds its way from the verifier to the storage: checked by `tsc`, never run. */
import {
  acceptTokens,
  createPlantStore,
  InsufficientScope,
  type NewPlant,
  type PlantBody,
  type PlantHandler,
  type PlantRequest,
  type PlantStorage,
  type ReadBody,
  type StorageContext,
  type VerifyToken,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

/** `true` only for types that are one and the same; `any` is the same as nothing else. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(yes: Same<A, B>): void;

interface User {
  readonly tenant: string;
}
interface Admin extends User {
  readonly role: 'admin';
}
declare const user: User;
declare const admin: Admin;
declare const forUsers: PlantStorage<User>;
declare const forAdmins: PlantStorage<Admin>;
declare const forAnybody: PlantStorage;

/** The `Caller` that `createPlantStore` finds, seen from a storage that is written in place. */
export function inferredFromTheVerifier(stored: Promise<'created'>): void {
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, User>(true);
        return stored;
      },
    },
    () => user,
  );
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, User>(true);
        return stored;
      },
    },
    async (): Promise<User | null> => user,
  );
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, User>(true);
        return stored;
      },
    },
    (token: string): User | false | undefined => token === 'good' && user,
  );
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, true>(true);
        return stored;
      },
    },
    (token: string): boolean => token === 'good',
  );
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, true>(true);
        return stored;
      },
    },
    async (token: string): Promise<boolean> => token === 'good',
  );
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, true>(true);
        return stored;
      },
    },
    acceptTokens('good'),
  );
  createPlantStore(
    {
      create(_plant, { caller }) {
        same<typeof caller, unknown>(true);
        return stored;
      },
    },
    // Unannotated, a parameter comes too late to be inferred from: no caller, but never a wrong one.
    (token) => token === 'good' && user,
  );
  createPlantStore(
    {
      create(plant) {
        same<typeof plant, NewPlant>(true);
        return stored;
      },
      async find(id, { caller }) {
        same<typeof id, bigint>(true);
        same<typeof caller, User>(true);
        return undefined;
      },
    },
    () => user,
  );
}

/** And from the storage: what it needs is what the verifier has to give. */
export function inferredFromTheStorage(): void {
  const handles: PlantHandler[] = [
    createPlantStore(forUsers, () => user),
    createPlantStore(forUsers, async () => user),
    createPlantStore(forUsers, () => admin),
    createPlantStore(forUsers, () => null),
    createPlantStore(forUsers, () => {
      throw new InsufficientScope('plants:write');
    }),
    createPlantStore(forAdmins, (): Admin | null => admin),
    createPlantStore(forAnybody, () => user),
    createPlantStore(memoryStorage(), () => true),
    createPlantStore(memoryStorage(), async (): Promise<User | undefined> => user),
  ];
  // A storage that asks less than it is given is fine.
  const narrowed: PlantStorage<Admin> = forUsers;
  const verify: VerifyToken<User> = (token, { request, signal }) =>
    signal.aborted || request.method === token ? null : user;
  void [handles, narrowed, verify];
}

export function refused(): void {
  // @ts-expect-error: the storage needs a role that the verifier does not give
  createPlantStore(forAdmins, () => user);
  // @ts-expect-error: nor when it promises
  createPlantStore(forAdmins, async (): Promise<User | null> => user);
  // @ts-expect-error: true is no user
  createPlantStore(forUsers, acceptTokens('good'));
  // @ts-expect-error: methods would be bivariant, and let this pass
  const widened: PlantStorage<User> = forAdmins;
  const needy = {
    async create(_plant: NewPlant, { caller }: StorageContext<Admin>) {
      return caller.role === 'admin' ? ('created' as const) : ('taken' as const);
    },
  };
  // @ts-expect-error: a storage that is written with methods is held to the same
  createPlantStore(needy, () => user);
  // @ts-expect-error: a storage says created or taken, and nothing else
  createPlantStore({ create: async () => 'stored' }, () => true);
  // @ts-expect-error: an id is a bigint
  const plant: NewPlant = { id: 1, name: 'x' };
  // @ts-expect-error: there is no such option
  createPlantStore(forAnybody, () => true, { timeout: 1 });
  // @ts-expect-error: a basePath is a string
  createPlantStore(forAnybody, () => true, { basePath: 7 });
  void [widened, plant];
}

/** What the world has fits the request without a cast. */
export function requests(incoming: Request, blob: Blob, bytes: Buffer): void {
  const bodies: (PlantBody | ReadBody | null | undefined)[] = [
    'text',
    bytes,
    blob.stream(),
    { parsed: {} },
    (limit) => 'x'.repeat(limit),
    async () => bytes,
    null,
    undefined,
  ];
  const request: PlantRequest = {
    method: incoming.method,
    url: incoming.url,
    headers: incoming.headers,
    body: incoming.body,
    signal: incoming.signal,
    raw: incoming,
  };
  const lambda: PlantRequest = { method: 'POST', url: '/', headers: { A: 'x', b: ['y'], c: undefined } };
  // @ts-expect-error: a plant that somebody parsed has to be marked as such
  const unmarked: PlantRequest = { ...lambda, body: { id: 1, name: 'x' } };
  void [bodies, request, unmarked];
}
