import { header, type MaybePromise, type PlantHeaders, type PlantRequest, type Signal } from './http.js';
import { Refusal } from './problems.js';

/** What `verifyToken` gets in addition to the token. */
export interface VerifyContext {
  readonly request: PlantRequest;
  /** Aborts when the request times out or the client disconnects. Created when it is first read. */
  readonly signal: Signal;
}

/**
 * Resolves a bearer token to its caller. Return `false`, `null` or `undefined` to respond 401.
 *
 * @throws {InsufficientScope} if the token is valid but may not create plants (403).
 * Anything else thrown is an outage: the client gets a 500, never a 401.
 *
 * @example
 * ```ts
 * const verifyToken: VerifyToken<{ tenant: string }> = async (token, { signal }) => {
 *   const response = await fetch(`https://auth.example/tokens/${encodeURIComponent(token)}`, { signal });
 *   if (response.status === 404) return null;
 *   if (!response.ok) throw new Error(`the token service responded ${response.status}`);
 *   return (await response.json()) as { tenant: string };
 * };
 * ```
 */
export type VerifyToken<Caller> = (
  token: string,
  context: VerifyContext,
) => MaybePromise<Caller | false | null | undefined>;

/**
 * Thrown by `verifyToken` if a valid token lacks a scope: 403 with `error="insufficient_scope"` (RFC 6750 §3.1).
 *
 * @example
 * ```ts
 * const verifyToken: VerifyToken<{ name: string }> = (token) => {
 *   if (token === 'reader') throw new InsufficientScope('plants:write');
 *   return token === 'gardener' && { name: 'Ada' };
 * };
 * ```
 */
export class InsufficientScope extends Error {
  override readonly name = 'InsufficientScope';

  /** @param scope the scope that is needed, as in RFC 6749 §3.3: words with one space between them */
  constructor(readonly scope: string) {
    if (!isScope(scope)) {
      throw new TypeError('InsufficientScope requires a scope as in RFC 6749 §3.3, such as "plants:write"');
    }
    super(`the token lacks the scope ${scope}`);
  }
}

/** Whether a value is a scope as in RFC 6749 §3.3, which is also safe inside a header's quotes. */
export function isScope(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value);
}

const token68 = '[A-Za-z0-9._~+/-]+=*';
/** Matches the scheme. Group 1 is the token, if exactly one well-formed token follows. */
const bearer = new RegExp(`^bearer(?: +(${token68}) *$| |$)`, 'i');

/** The token of the request's one `Authorization: Bearer` header. */
export function bearerToken(headers: PlantHeaders): string {
  const found = header(headers, 'authorization');
  // Two Authorization headers are ambiguous: one reader may take the first, another the last.
  if (Array.isArray(found) && found.length > 1) throw tokenInvalid();
  const match = bearer.exec(String(found ?? ''));
  // No `error` attribute: a client that sent no credentials has made no mistake yet (RFC 6750 §3.1).
  if (!match) throw new Refusal('token_missing', { headers: challenge() });
  if (!match[1]) throw tokenInvalid();
  return match[1];
}

/** What `verifyToken` returned for a valid token. */
export function callerOf<Caller>(verified: Caller | false | null | undefined): Caller {
  if (verified === null || verified === undefined || verified === false) throw tokenInvalid();
  return verified;
}

function tokenInvalid(): Refusal {
  return new Refusal('token_invalid', { headers: challenge(', error="invalid_token"') });
}

export function scopeInsufficient(scope: string): Refusal {
  const headers = challenge(`, error="insufficient_scope", scope="${scope}"`);
  return new Refusal('scope_insufficient', { headers });
}

function challenge(attributes = ''): Record<string, string> {
  return { 'www-authenticate': `Bearer realm="plants"${attributes}` };
}

/**
 * Creates a verifier that accepts a fixed set of tokens and compares them in constant time.
 *
 * @throws {TypeError} if no token is given, or one that no bearer header can carry (RFC 6750 §2.1)
 *
 * @example
 * ```ts
 * const handle = createPlantStore(memoryStorage(), acceptTokens(process.env.TOKEN!));
 * ```
 */
export function acceptTokens(...tokens: readonly string[]): VerifyToken<true> {
  if (tokens.length === 0) throw new TypeError('acceptTokens requires at least one token');
  for (const token of tokens) {
    if (typeof token !== 'string' || !new RegExp(`^${token68}$`).test(token)) {
      throw new TypeError('acceptTokens: a token may contain only A-Z a-z 0-9 - . _ ~ + / and trailing "="');
    }
  }
  const expected = tokens.map((token) => new TextEncoder().encode(token));
  return (given) => {
    let found = false;
    for (const token of expected) found = equalInConstantTime(token, given) || found;
    return found;
  };
}

/** Takes equally long for a near miss and a match, so that a token cannot be guessed character by character. */
function equalInConstantTime(expected: Uint8Array, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let i = 0; i < expected.length; i++) {
    // Past the end of `given`, charCodeAt is NaN, and `^` takes NaN for 0.
    difference |= expected[i]! ^ given.charCodeAt(i);
  }
  return difference === 0;
}
