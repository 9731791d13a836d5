import type { PlantResponse } from './http.js';

/**
 * Every refusal: its number, and one sentence for the client, which the OpenAPI document shows too. A number never
 * changes meaning; its first three digits are the HTTP status.
 */
export const problems = {
  body_not_json: [40001, 'The body is empty or is not JSON. Send a JSON object in UTF-8.'],
  plant_invalid: [
    40002,
    'The body is not a NewPlant. Send a JSON object with an integer id and a string name.',
  ],
  id_taken: [40003, 'A plant with this id exists. Choose another id.'],
  plant_refused: [40004, 'The storage refused this plant. Change it and try again.'],
  media_type_unsupported: [40005, 'Send the body as application/json, without a Content-Encoding.'],
  body_too_large: [40006, 'The body is too large. Send a smaller one.'],
  body_incomplete: [40007, 'The body did not arrive whole. Nothing was stored; try again.'],
  token_missing: [40101, 'Send a bearer token: "Authorization: Bearer" and the token.'],
  token_invalid: [40102, 'The bearer token was not accepted. Check it, or get a new one.'],
  scope_insufficient: [40301, 'The bearer token lacks the scope that WWW-Authenticate names.'],
  not_found: [40401, 'This store answers POST /plants.'],
  method_not_allowed: [40501, 'This store answers POST only.'],
  internal_error: [50000, 'The server failed. Try again later.'],
  storage_failed: [50001, 'The storage failed. The plant may or may not be stored.'],
  verification_failed: [50002, 'The server could not check the token. Nothing was stored; try again.'],
  body_unreadable: [50003, 'The server lost the body. Nothing was stored; tell its operator.'],
  busy: [50301, 'The storage is busy or out of reach. Nothing was stored; try again.'],
  timed_out: [50302, 'The storage did not answer in time. The plant may or may not be stored.'],
} as const satisfies Record<string, readonly [error: number, sentence: string]>;

export type Problem = keyof typeof problems;

/** A number that `error` can have in the body of a refusal. */
export type ErrorNumber = (typeof problems)[Problem][0];

interface Details {
  /** Shown to the client. Default: the problem's own sentence. */
  readonly message?: string;
  readonly headers?: Record<string, string>;
}

/** A problem on its way to the client. Every refusal in the library is thrown as one of these. */
export class Refusal {
  readonly #problem: Problem;
  readonly #details: Details;

  constructor(problem: Problem, details: Details = {}) {
    this.#problem = problem;
    this.#details = details;
  }

  /** The HTTP answer, with the contract's Error as its body. An answer to HEAD has none (RFC 9110 §9.3.2). */
  toResponse(method?: unknown): PlantResponse {
    const [error, sentence] = problems[this.#problem];
    const { message = sentence, headers } = this.#details;
    return {
      status: Math.trunc(error / 100),
      headers: { 'content-type': 'application/json', ...headers },
      body: method === 'HEAD' ? '' : JSON.stringify({ error, message }),
    };
  }
}

/** Whether a refusal was thrown. Not `instanceof`, which throws on a revoked proxy. */
export function isRefusal(thrown: unknown): thrown is Refusal {
  return propertyOf(thrown, 'constructor') === Refusal;
}

/**
 * Whether an error is one of the library's own. Compares by name: if an app loads this package as ESM and as CommonJS,
 * there are two classes of one name, and `instanceof` fails.
 */
export function isNamed<E extends Error>(error: unknown, name: E['name']): error is E {
  return propertyOf(error, 'name') === name;
}

/** A property of whatever was thrown: of any type, and `undefined` if its getter throws. */
export function propertyOf(thrown: unknown, name: string): unknown {
  try {
    return (thrown as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}
