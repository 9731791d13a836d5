import type { PlantResponse } from './http.js';

/**
 * Every way a request can fail. The number is for programs and never changes meaning; its first three digits
 * are the HTTP status. `when` is the sentence that the OpenAPI document shows.
 */
export const problems = {
  body_not_json: { error: 40001, when: 'The body is empty, not UTF-8 or not JSON.' },
  plant_invalid: { error: 40002, when: 'The body is JSON, but not a NewPlant.' },
  id_taken: { error: 40003, when: 'A plant with this id exists.' },
  plant_refused: { error: 40004, when: 'The storage refused this plant; the message says why.' },
  media_type_unsupported: {
    error: 40005,
    when: 'The Content-Type is not application/json, or the body has a Content-Encoding.',
  },
  body_too_large: { error: 40006, when: 'The body is larger than this server accepts.' },
  body_incomplete: { error: 40007, when: 'The body stopped short of its end.' },
  token_missing: { error: 40101, when: 'There is no bearer token.' },
  token_invalid: { error: 40102, when: 'The bearer token is malformed, or was turned down.' },
  scope_insufficient: { error: 40301, when: 'The token is good, but not for creating plants.' },
  not_found: { error: 40401, when: 'This server answers another path.' },
  method_not_allowed: { error: 40501, when: 'This path answers POST alone.' },
  internal_error: { error: 50000, when: 'The server failed.' },
  storage_failed: { error: 50001, when: 'The storage failed; the plant may or may not exist.' },
  verification_failed: { error: 50002, when: 'The token could not be verified; it may well be good.' },
  body_unreadable: { error: 50003, when: 'The server lost the body before it could be read exactly.' },
  busy: { error: 50301, when: 'The storage has no room to queue more; nothing was stored.' },
  timed_out: { error: 50302, when: 'The storage did not answer in time; the plant may or may not exist.' },
} as const satisfies Record<string, { error: number; when: string }>;

export type Problem = keyof typeof problems;

interface Details {
  /** For the client; the problem's `when` unless given. */
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
    const { error, when } = problems[this.problem];
    const { message = when, headers, bodyless } = this.details;
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
