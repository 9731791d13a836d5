import { type ErrorNumber, type Problem, problemOf } from '../errors/numbers.js';
import { own } from '../http.js';
import type { Plant } from '../plant/plant.js';

/**
 * Why a create failed. `message` is the server's own, without control characters; `cause` is what `fetch` rejected with, if no response arrived.
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
  /** The server's error number, if this version knows it. */
  declare readonly error: ErrorNumber | undefined;
  /** The name of the error number. */
  declare readonly problem: Problem | undefined;
  /** `'no'` if the server stored nothing, `'unknown'` if it may have. */
  declare readonly stored: 'no' | 'unknown';
  /** The time to wait before the next attempt in milliseconds, if the server said that another is safe. */
  declare readonly retryAfterMs: number | undefined;

  /** @internal */
  constructor(url: string, { status, json, after, location, cause }: Received) {
    const { error: number, message } = own(json);
    const error = Number(number);
    const named = problemOf(error);
    // A server that is not plant-store may use the same number with another status.
    const problem = named && Math.trunc(error / 100) === status ? named : undefined;
    const told = typeof message === 'string' ? message.replace(controls, ' ') : `HTTP ${status} from ${url}`;
    super(problem ? told : status ? strangeOf(url, status, location) : `no response from ${url}`, { cause });
    const mayBeStored = problem ? unknownOutcomes.includes(problem) : status < 300 || status >= 500;
    // Seconds, or a date (RFC 9110 §10.2.3).
    const ms = Math.max(0, Number(after) * 1_000 || Date.parse(after!) - Date.now() || 0);
    const retryAfterMs = status === 503 && after ? ms : undefined;
    const stored = mayBeStored ? 'unknown' : 'no';
    Object.assign(this, { status, error: problem && error, problem, stored, retryAfterMs });
  }
}

/** What to say of a response that is not plant-store's. */
function strangeOf(url: string, status: number, location: string | null | undefined): string {
  const isRedirect = status >= 300 && status < 400 && location;
  const what = isRedirect
    ? `which redirects to ${location.replace(controls, ' ')}: the client follows no redirect, because its target would get the token`
    : 'which is not plant-store: the base URL is the part before /plants';
  return `HTTP ${status} from ${url}, ${what}`;
}

/** Controls, line separators and bidirectional marks, which a terminal would obey. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The problems after which the plant may or may not have been stored. */
const unknownOutcomes: readonly Problem[] = ['internal_error', 'storage_failed', 'timed_out'];

/** What came back for one attempt. */
export interface Received {
  /** 0 if no response arrived. */
  status: number;
  /** A Plant or an Error, or anything else. */
  json: Partial<Plant & { error: ErrorNumber; message: string }>;
  /** The header `Retry-After`. */
  after?: string | null;
  /** The header `Location`, of a redirect. */
  location?: string | null;
  /** Why no response arrived. */
  cause?: unknown;
}
