import type { ErrorNumber, errorNumbers, Problem } from './problems.js';

/**
 * Why a create failed. `message` is the server's own.
 *
 * @example
 * ```ts
 * import { createPlantClient, PlantError } from 'plant-store/client';
 *
 * const client = createPlantClient('https://example.com/api', { token: 'secret' });
 * try {
 *   await client.create({ id: 1n, name: 'Rosa canina' });
 * } catch (error) {
 *   if (!(error instanceof PlantError)) throw error;
 *   if (error.problem === 'id_taken') console.log('Choose another id.');
 *   else if (error.stored === 'unknown') console.log('The plant may or may not have been stored.');
 * }
 * ```
 */
export class PlantError extends Error {
  override readonly name = 'PlantError';
  /** The HTTP status; 0 if no response arrived. */
  declare readonly status: number;
  /** The server's error code, if the response has one. */
  declare readonly error: ErrorNumber | undefined;
  /** The name of the error code, if this version knows it. */
  declare readonly problem: Problem | undefined;
  /** `'no'` if the server stored nothing, `'unknown'` if it may have. */
  declare readonly stored: 'no' | 'unknown';
  /** The time to wait before the next attempt in milliseconds, if the server said that another is safe. */
  declare readonly retryAfterMs: number | undefined;
  /** What `fetch` rejected with, if no response arrived. */
  declare readonly cause: unknown;

  /** @internal */
  constructor(message: string, details: Omit<PlantError, Exclude<keyof Error, 'cause'>>) {
    super(message);
    Object.assign(this, details);
  }
}

/** The error codes again, because the table in problems.ts would bring its sentences. The type holds the two together. */
export const names: { readonly [Name in Problem as (typeof errorNumbers)[Name]]: Name } = {
  40001: 'body_not_json',
  40002: 'plant_invalid',
  40003: 'id_taken',
  40004: 'plant_refused',
  40005: 'media_type_unsupported',
  40006: 'body_too_large',
  40007: 'body_incomplete',
  40101: 'token_missing',
  40102: 'token_invalid',
  40301: 'scope_insufficient',
  40401: 'not_found',
  40501: 'method_not_allowed',
  50000: 'internal_error',
  50001: 'storage_failed',
  50002: 'verification_failed',
  50003: 'body_unreadable',
  50004: 'storage_rejected',
  50301: 'busy',
  50302: 'timed_out',
};

/** After these problems the plant may be stored. */
export const open: readonly unknown[] = [50000, 50001, 50302];
