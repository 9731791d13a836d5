import { operation, type PlantResponse } from './http.js';

/**
 * Every refusal: its number, and one sentence for the client, which the OpenAPI document shows too. A number never
 * changes meaning; its first three digits are the HTTP status.
 */
export const problems = {
  body_not_json: [40001, 'The body is empty or not JSON. Send a JSON object in UTF-8.'],
  plant_invalid: [40002, 'The body is not a NewPlant.'],
  id_taken: [40003, 'A plant with this id exists. Choose another id.'],
  plant_refused: [40004, 'The storage rejected this plant. Change it and try again.'],
  media_type_unsupported: [40005, 'Send the body as application/json, without a Content-Encoding.'],
  body_too_large: [40006, 'The body is too large.'],
  body_incomplete: [40007, 'The body did not arrive in full. Nothing was stored; try again.'],
  token_missing: [40101, 'Missing bearer token. Send "Authorization: Bearer <token>".'],
  token_invalid: [40102, 'The bearer token is invalid or expired. Get a new one.'],
  scope_insufficient: [40301, 'The bearer token lacks a required scope; see WWW-Authenticate.'],
  not_found: [40401, 'Not found.'],
  method_not_allowed: [40501, `Method not allowed. Use ${operation.method}.`],
  internal_error: [50000, 'The server failed. Try again later.'],
  storage_failed: [50001, 'The storage failed. The plant may or may not have been stored.'],
  verification_failed: [50002, 'The server could not check the token. Nothing was stored; try again.'],
  body_unreadable: [50003, 'The server could not read the body. Nothing was stored; tell the operator.'],
  storage_rejected: [50004, 'The storage rejected this plant. Nothing was stored; tell the operator.'],
  busy: [50301, 'The storage is busy or unavailable. Nothing was stored; try again.'],
  timed_out: [50302, 'The storage timed out. The plant may or may not have been stored.'],
} as const satisfies Record<string, readonly [error: number, sentence: string]>;

/** The name of an error code, as `errorNumbers` has it. */
export type Problem = keyof typeof problems;

/** A number that `error` can have in the body of a refusal. */
export type ErrorNumber = (typeof problems)[Problem][0];

// A call that bundlers drop if an app does not use `errorNumbers`.
/** The error codes by their names: `errorNumbers.id_taken` is 40003. */
export const errorNumbers = /* @__PURE__ */ (() =>
  Object.fromEntries(Object.entries(problems).map(([name, [error]]) => [name, error])))() as {
  readonly [Name in Problem]: (typeof problems)[Name][0];
};

/** A problem to send to the client. Every rejection in the library is thrown as a `Refusal`. */
export class Refusal {
  /** @param message shown to the client */
  constructor(
    readonly problem: Problem,
    readonly message: string = problems[problem][1],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /** The response, with the contract's Error as its body. A response to HEAD has none (RFC 9110 §9.3.2). */
  toResponse(method?: unknown): PlantResponse {
    const { problem, message, headers } = this;
    const [error] = problems[problem];
    return {
      status: Math.trunc(error / 100),
      headers: { 'content-type': 'application/json', ...headers },
      body: method === 'HEAD' ? '' : JSON.stringify({ error, message }),
      error,
    };
  }
}

/** A 404 that names the requested path, if it is safe to echo, so that a wrong mount is visible. */
export function notFound(known: string, path: string): Refusal {
  const received = /^[\w./~-]{1,100}$/.test(path) ? ` The request was for ${path}.` : '';
  return new Refusal('not_found', `Not found. Use ${operation.method} ${known}.${received}`);
}

/** A 405 must name the methods of its path (RFC 9110 §15.5.6). */
export function methodNotAllowed(): Refusal {
  return new Refusal('method_not_allowed', undefined, { allow: operation.method });
}

export function idTaken(id: bigint): Refusal {
  return new Refusal('id_taken', `A plant with id ${id} exists. Choose another id.`);
}

export function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', `The body is larger than ${limit} bytes.`);
}

/** Safe to echo to the client: a media type or content codings, nothing else. */
const quotable = /^(?=.{1,100}$)[\w!#$&^.+-]+([/,] ?[\w!#$&^.+-]+)*$/;

export function unsupported(header: 'Content-Type' | 'Content-Encoding', value: string): Refusal {
  const received = value.trim();
  const [, expected] = problems.media_type_unsupported;
  const found = quotable.test(received)
    ? `The ${header} is ${received}.`
    : `The request has no usable ${header}.`;
  return new Refusal('media_type_unsupported', `${expected} ${found}`);
}

/** What each member of a NewPlant must be. */
export const memberRules = {
  id: 'id must be an integer from -2^63 to 2^63-1',
  name: 'name must be a string without U+0000 or lone surrogates',
  tag: 'tag must be a string without U+0000 or lone surrogates, or absent',
};

/** @param reasons what is wrong; no reason if it is not even an object */
export function notANewPlant(reasons: readonly string[] = ['the body must be a JSON object']): Refusal {
  return new Refusal('plant_invalid', `Not a NewPlant: ${reasons.join('; ')}.`);
}

/** The reason for an id that is a string. */
export const idIsString = `${memberRules.id}, as a JSON number, not a string`;

export const repeatedMember = (member: string) => `${member} must not be repeated`;

/**
 * Whether an error is one of the library's own. Compares by name: if an app loads this package as ESM and as CommonJS,
 * there are two classes of one name, and `instanceof` fails.
 */
export function isNamed<E extends Error>(error: unknown, name: E['name']): error is E {
  return propertyOf(error, 'name') === name;
}

/** A property of anything thrown, of any type; `undefined` if its getter throws, or if every object has it. */
export function propertyOf(thrown: unknown, name: string): unknown {
  try {
    const value = (thrown as Record<string, unknown> | null | undefined)?.[name];
    // A legacy library may have added it to `Object.prototype`.
    return value === (Object.prototype as unknown as Record<string, unknown>)[name] ? undefined : value;
  } catch {
    return undefined;
  }
}
