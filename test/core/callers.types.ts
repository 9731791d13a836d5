/** The type `Caller`, inferred from the verifier or from the storage: `tsc` checks this file, nothing runs it. */
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

/** `true` only for identical types; `any` is identical to `any` alone. */
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

declare const orNull: (token: string) => Promise<User | null>;
declare const orFalse: (token: string) => User | false | undefined;
declare const isGood: (token: string) => boolean;
declare const willBeGood: (token: string) => Promise<boolean>;

/** What `create` returns, if its caller has exactly this type. */
declare function is<Expected>(): <Caller>(caller: Caller, yes: Same<Caller, Expected>) => Promise<'created'>;

/** The `Caller` that `createPlantStore` infers, as a storage written in place sees it. */
export function inferredFromTheVerifier(): void {
  createPlantStore({ create: (_, { caller }) => is<User>()(caller, true) }, () => user);
  createPlantStore({ create: (_, { caller }) => is<User>()(caller, true) }, orNull);
  createPlantStore({ create: (_, { caller }) => is<User>()(caller, true) }, orFalse);
  createPlantStore({ create: (_, { caller }) => is<true>()(caller, true) }, isGood);
  createPlantStore({ create: (_, { caller }) => is<true>()(caller, true) }, willBeGood);
  createPlantStore({ create: (_, { caller }) => is<true>()(caller, true) }, acceptTokens('good'));
  createPlantStore(
    { create: (_, { caller }) => is<unknown>()(caller, true) },
    // TypeScript infers nothing from an unannotated parameter: `Caller` is then unknown, but never wrong.
    (token) => token === 'good' && user,
  );
  createPlantStore(
    {
      create: (plant) => is<NewPlant>()(plant, true),
      async find(id, { caller }) {
        same<typeof id, bigint>(true);
        same<typeof caller, User>(true);
        return undefined;
      },
    },
    () => user,
  );
}

/** Inferred from the storage: the verifier has to give what the storage needs. */
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
  // A storage may need less than the verifier gives.
  const narrowed: PlantStorage<Admin> = forUsers;
  const verify: VerifyToken<User> = (token, { request, signal }) =>
    signal.aborted || request.method === token ? null : user;
  void [handles, narrowed, verify];
}

export function refused(): void {
  // @ts-expect-error: the storage needs a role that the verifier does not give
  createPlantStore(forAdmins, () => user);
  // @ts-expect-error: the same, with a promise
  createPlantStore(forAdmins, async (): Promise<User | null> => user);
  // @ts-expect-error: true is not a User
  createPlantStore(forUsers, acceptTokens('good'));
  // @ts-expect-error: methods are bivariant, so they would let this pass
  const widened: PlantStorage<User> = forAdmins;
  const needy = {
    async create(_plant: NewPlant, { caller }: StorageContext<Admin>) {
      return caller.role === 'admin' ? ('created' as const) : ('taken' as const);
    },
  };
  // @ts-expect-error: a storage written with methods is checked as strictly
  createPlantStore(needy, () => user);
  // @ts-expect-error: a storage says created or taken, and nothing else
  createPlantStore({ create: async () => 'stored' }, () => true);
  // @ts-expect-error: an id is a bigint
  const plant: NewPlant = { id: 1, name: 'x' };
  // @ts-expect-error: this option does not exist
  createPlantStore(forAnybody, () => true, { timeout: 1 });
  // @ts-expect-error: a basePath is a string
  createPlantStore(forAnybody, () => true, { basePath: 7 });
  void [widened, plant];
}

/** The requests of platforms and hosts fit `PlantRequest` without a cast. */
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
  // @ts-expect-error: a parsed plant has to be wrapped in { parsed }
  const unmarked: PlantRequest = { ...lambda, body: { id: 1, name: 'x' } };
  void [bodies, request, unmarked];
}
