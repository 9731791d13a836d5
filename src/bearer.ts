import { checkToken } from './checks/token.js';
import { OwnError } from './errors/own-words.js';
import type { MaybePromise, PlantRequest, Signal } from './http.js';

/** What `verifyToken` gets in addition to the token. */
export interface VerifyContext {
  readonly request: PlantRequest;
  /** Aborts when the request times out or the client disconnects. Created when it is first read. */
  readonly signal: Signal;
}

/** The values that mean an invalid token. NaN counts too, but TypeScript cannot express it. */
export type Falsy = false | null | undefined | '' | 0 | 0n;

/**
 * Resolves a bearer token to its caller. Return a falsy value, such as `null` or `''`, to respond 401.
 *
 * @throws {InsufficientScope} if the token is valid but may not create plants (403).
 * Anything else thrown is an outage: the client gets a 500, never a 401.
 *
 * @example
 * ```ts
 * // Token introspection (RFC 7662). The token goes into the body: a URL would resolve the token `..`, and be logged.
 * const verifyToken: VerifyToken<{ tenant: string }> = async (token, { signal }) => {
 *   const response = await fetch('https://auth.example/introspect', {
 *     method: 'POST',
 *     headers: { authorization: `Basic ${process.env.INTROSPECTION_CREDENTIALS}` },
 *     body: new URLSearchParams({ token }),
 *     signal,
 *   });
 *   if (!response.ok) throw new Error(`the token service responded ${response.status}`);
 *   const { active, tenant } = (await response.json()) as { active: boolean; tenant: string };
 *   return active && { tenant };
 * };
 * ```
 */
export type VerifyToken<Caller> = (token: string, context: VerifyContext) => MaybePromise<Caller | Falsy>;

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
export class InsufficientScope extends OwnError {
  override readonly name = 'InsufficientScope';

  /** @param scope the scope that is needed, as in RFC 6749 §3.3: words with one space between them */
  constructor(readonly scope: string) {
    if (!isScope(scope)) {
      throw new TypeError('InsufficientScope requires a scope as in RFC 6749 §3.3, such as "plants:write"');
    }
    super(`the token lacks the scope ${scope}`);
  }
}

/** The grammar of a scope (RFC 6749 §3.3), which is also safe between the quotes of a header. */
const scopeGrammar = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

export function isScope(value: unknown): value is string {
  return typeof value === 'string' && scopeGrammar.test(value);
}

/**
 * Creates a verifier that accepts a fixed set of tokens and compares them in constant time.
 *
 * @throws {TypeError} if no token is given, or a bearer header cannot carry one of them (RFC 6750 §2.1)
 *
 * @example
 * ```ts
 * const handle = createPlantStore(memoryStorage(), acceptTokens(process.env.TOKEN!));
 * ```
 */
export function acceptTokens(...tokens: readonly string[]): VerifyToken<true> {
  if (tokens.length === 0) throw new TypeError('acceptTokens requires at least one token');
  for (const token of tokens) {
    if (Array.isArray(token))
      throw new TypeError(
        'acceptTokens: each token must be a string, got an array; pass the tokens one by one: acceptTokens(...tokens)',
      );
    checkToken(token, 'acceptTokens: each token');
  }
  // Not `some`, which would stop at the first that is equal.
  return (given) => tokens.filter((token) => equalInConstantTime(token, given)).length > 0;
}

/** Its time depends only on the length of `given`, which the client chose. */
function equalInConstantTime(expected: string, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let i = 0; i < given.length; i++) {
    // Starts again after the end of `expected`: reading past it would be slower, and so tell its length.
    difference |= expected.charCodeAt(i % expected.length) ^ given.charCodeAt(i);
  }
  return difference === 0;
}
