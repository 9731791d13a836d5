import { operation, type PlantResponse } from '../http.js';
import { errorNumbers, type Problem } from './numbers.js';
import { propertyOf } from './property-of.js';

/** One sentence for the client about each refusal, which the OpenAPI document shows too. */
export const sentences: { readonly [Name in Problem]: string } = {
  body_not_json: 'The body is empty or is not JSON. Send a JSON object in UTF-8.',
  plant_invalid: 'The body is not a NewPlant. Send a JSON object with an integer id and a string name.',
  id_taken: 'A plant with this id exists. Choose another id.',
  plant_refused: 'The storage rejected this plant. Change it and try again.',
  media_type_unsupported: 'Send the body as application/json, without a Content-Encoding.',
  body_too_large: 'The body is too large. Send a smaller one.',
  body_incomplete: 'The body did not arrive in full. Nothing was stored; try again.',
  token_missing: 'Missing bearer token. Send "Authorization: Bearer <token>".',
  token_invalid: 'The bearer token is invalid or expired. Get a new one.',
  scope_insufficient: 'The bearer token lacks a required scope; see WWW-Authenticate.',
  not_found: 'Not found. Use another path.',
  method_not_allowed: `Method not allowed. Use ${operation.method}.`,
  internal_error: 'The server failed. Try again later.',
  storage_failed: 'The storage failed. The plant may or may not have been stored.',
  verification_failed: 'The server could not check the token. Nothing was stored; try again.',
  body_unreadable: 'The server could not read the body. Nothing was stored; tell the operator.',
  storage_rejected: 'The storage rejected this plant. Nothing was stored; tell the operator.',
  busy: 'The storage is busy or unavailable. Nothing was stored; try again.',
  timed_out: 'The storage timed out. The plant may or may not have been stored.',
};

/** A problem to send to the client. Every rejection in the library is thrown as a `Refusal`. */
export class Refusal {
  /** @param message shown to the client */
  constructor(
    readonly problem: Problem,
    readonly message: string = sentences[problem],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /** The response, with the contract's Error as its body. A response to HEAD has none (RFC 9110 §9.3.2). */
  toResponse(method?: unknown): PlantResponse {
    const { problem, message, headers } = this;
    const error = errorNumbers[problem];
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

export function unsupported(
  header: 'Content-Type' | 'Content-Encoding' | 'Transfer-Encoding',
  value: string,
): Refusal {
  const received = value.trim();
  const found = quotable.test(received)
    ? `The ${header} is ${received}.`
    : `The request has no usable ${header}.`;
  return new Refusal('media_type_unsupported', `${sentences.media_type_unsupported} ${found}`);
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

const faultsOfPrograms: readonly unknown[] = ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'];

/** Whether an error is a fault of the program, which no retry can cure. `fetch` reports an outage as a TypeError with a cause. */
export function isFaultOfProgram(thrown: unknown): boolean {
  return faultsOfPrograms.includes(propertyOf(thrown, 'name')) && propertyOf(thrown, 'cause') === undefined;
}
