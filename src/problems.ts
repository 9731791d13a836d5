import type { PlantResponse } from './http.js';

/**
 * Every way a request can fail: its number, and what the client is told where nothing of the request has to be said
 * and the name does not say it all. The number is for programs and never changes meaning; its first three digits are
 * the HTTP status.
 */
export const problems = {
  body_not_json: [40001, 'The body is empty, not UTF-8 or not JSON.'],
  plant_invalid: [40002],
  id_taken: [40003],
  plant_refused: [40004],
  media_type_unsupported: [40005],
  body_too_large: [40006],
  body_incomplete: [40007],
  token_missing: [40101, 'Send "Authorization: Bearer" and your token.'],
  token_invalid: [40102],
  scope_insufficient: [40301],
  not_found: [40401],
  method_not_allowed: [40501],
  internal_error: [50000],
  storage_failed: [50001, 'The storage failed: the plant may or may not exist.'],
  verification_failed: [50002],
  body_unreadable: [50003],
  busy: [50301, 'The storage is busy: nothing was stored.'],
  timed_out: [50302, 'The storage timed out: the plant may or may not exist.'],
} as const satisfies Record<string, readonly [error: number, message?: string]>;

export type Problem = keyof typeof problems;

interface Details {
  /** For the client; the problem's own unless given. */
  readonly message?: string;
  readonly headers?: Record<string, string>;
  /** For `onError` alone. */
  readonly cause?: unknown;
  /** No body, as an answer to HEAD has none (RFC 9110 §9.3.2). */
  readonly bodyless?: boolean;
}

/** A problem on its way to the client; every refusal in the library is thrown as one of these. */
export class Refusal {
  constructor(
    readonly problem: Problem,
    readonly details: Details = {},
  ) {}

  /** The HTTP answer, as the contract's Error. */
  toResponse(): PlantResponse {
    const [error, known = `${this.problem.replaceAll('_', ' ')}.`] = problems[this.problem];
    const { message = known, headers, bodyless } = this.details;
    return {
      status: Math.trunc(error / 100),
      headers: { 'content-type': 'application/json', ...headers },
      body: bodyless ? '' : JSON.stringify({ error, message }),
    };
  }
}

/**
 * Whether an error is one of the library's own, by name: a class from the other copy of this module, ESM beside
 * CommonJS, is another class of the same name.
 */
export function isNamed<E extends Error>(error: unknown, name: E['name']): error is E {
  try {
    return (error as Error | null | undefined)?.name === name;
  } catch {
    return false; // Anything can be thrown, an object with a getter that throws for one.
  }
}
