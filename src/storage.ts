import type { VerifyContext } from './bearer.js';
import { OwnError } from './errors/own-words.js';
import type { NewPlant } from './plant/plant.js';

/** What a storage gets in addition to the plant. */
export interface StorageContext<Caller> extends VerifyContext {
  /** What `verifyToken` returned. */
  readonly caller: Caller;
}

/**
 * Where plants are stored. Test a custom storage with `storageCases` from `plant-store/testing`.
 *
 * The members are properties, not methods, because TypeScript checks methods bivariantly: it would accept a verifier
 * that gives `{ tenant }` for a storage that needs `{ tenant, role }`.
 *
 * @example
 * ```ts
 * import pg from 'pg';
 *
 * const pool = new pg.Pool();
 * const storage: PlantStorage = {
 *   async create({ id, name, tag }) {
 *     const result = await pool.query(
 *       'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
 *       [String(id), name, tag ?? null],
 *     );
 *     return result.rowCount === 1 ? 'created' : 'taken';
 *   },
 * };
 * ```
 */
export interface PlantStorage<Caller = unknown> {
  /**
   * Stores the plant if its id is free.
   *
   * - Atomic: of any number of concurrent creates of one id, exactly one gets `'created'`.
   * - Durable: once it has returned `'created'`, a crash does not lose the plant, as far as this storage promises.
   * - `'taken'` means that a plant with this id is stored. If you do not know the outcome, throw.
   *
   * @throws {PlantRefused} if this storage rejects the plant (400).
   * @throws {StorageBusy} if it is overloaded or unavailable and definitely stored nothing (503).
   * Anything else thrown is `storage_failed` (500): the plant may or may not exist.
   */
  readonly create: (plant: NewPlant, context: StorageContext<Caller>) => Promise<'created' | 'taken'>;
  /** The stored plant, or `undefined` if there is none. Needed only for `acceptReplays`. */
  readonly find?:
    | ((id: bigint, context: StorageContext<Caller>) => Promise<NewPlant | undefined>)
    | undefined;
  /** Calls the listener when no plant is stored any more, and when one is again: `createPlantStore` writes a line then. */
  readonly watch?: ((listener: (status: StorageStatus) => void) => void) | undefined;
}

/** Says that creates have begun to fail, or that they work again. */
export type StorageStatus =
  | {
      readonly isWorking: false;
      /** For how long no plant has been stored, in milliseconds. */
      readonly ms: number;
      /** The last error of the database, or of the attempt to reach it. */
      readonly cause: unknown;
    }
  | {
      readonly isWorking: true;
      /** How long it lasted, in milliseconds. */
      readonly ms: number;
      /** How many creates have failed. */
      readonly failed: number;
    };

/**
 * Thrown by a storage that rejects this plant: the response is a 400 with this message.
 *
 * @example
 * ```ts
 * const plants = memoryStorage();
 * const storage: PlantStorage = {
 *   async create(plant, context) {
 *     if (plant.name.length > 200) throw new PlantRefused('name is longer than 200 characters');
 *     return plants.create(plant, context);
 *   },
 * };
 * ```
 */
export class PlantRefused extends OwnError {
  override readonly name = 'PlantRefused';
}

/**
 * Thrown by a storage that is overloaded or unavailable and definitely stored nothing: 503 with `Retry-After: 1`.
 *
 * @example
 * ```ts
 * const plants = memoryStorage();
 * let held = 0;
 * const storage: PlantStorage = {
 *   async create(plant, context) {
 *     if (held >= 10_000) throw new StorageBusy();
 *     held++;
 *     return plants.create(plant, context).finally(() => held--);
 *   },
 * };
 * ```
 */
export class StorageBusy extends OwnError {
  override readonly name = 'StorageBusy';

  /**
   * @param message for the operator: the log shows it as it is now, so give it no value of a request
   * @param options `cause`: what made the storage unavailable, for `onError`
   */
  constructor(message = 'the storage queue is full', options?: { readonly cause?: unknown }) {
    super(message, options);
  }
}
