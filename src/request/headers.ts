import { type Falsy, isScope } from '../bearer.js';
import { token68 } from '../checks/token.js';
import type { Problem } from '../errors/numbers.js';
import { isNamed, Refusal, tooLarge, unsupported } from '../errors/problems.js';
import { propertyOf } from '../errors/property-of.js';
import { header, type PlantHeaders } from '../http.js';

/** Matches the scheme, in any letter case. Group 1 is the token, if exactly one well-formed token follows. */
const bearer = new RegExp(`^bearer(?: +(${token68}) *$| |$)`, 'i');

/** The token of the request's one `Authorization: Bearer` header. */
export function bearerToken(headers: PlantHeaders): string {
  const found = header(headers, 'authorization');
  // Two Authorization headers are ambiguous: one reader may take the first, another the last.
  if (Array.isArray(found) && found.length > 1) throw tokenInvalid();
  const match = bearer.exec(String(found ?? ''));
  // "If the request lacks any authentication information [...] the resource server SHOULD NOT include an error code" (§3.1).
  if (!match) throw challenge('token_missing', '');
  if (!match[1]) throw tokenInvalid();
  return match[1];
}

/** What `verifyToken` returned for a valid token. A falsy value is no caller: `claims.sub ?? ''` must not let everybody in. */
export function callerOf<Caller>(verified: Caller | Falsy): Caller {
  if (!verified) throw tokenInvalid();
  return verified;
}

/** "The access token provided is expired, revoked, malformed, or invalid for other reasons" (RFC 6750 §3.1). */
function tokenInvalid(): Refusal {
  return challenge('token_invalid', ', error="invalid_token"');
}

/**
 * "The request requires higher privileges than provided by the access token" (RFC 6750 §3.1).
 *
 * @returns `undefined` for anything thrown that is no `InsufficientScope` with a scope
 */
export function scopeInsufficient(thrown: unknown): Refusal | undefined {
  const scope = isNamed(thrown, 'InsufficientScope') && propertyOf(thrown, 'scope');
  if (!isScope(scope)) return undefined;
  return challenge('scope_insufficient', `, error="insufficient_scope", scope="${scope}"`);
}

function challenge(problem: Problem, attributes: string): Refusal {
  return new Refusal(problem, undefined, { 'www-authenticate': `Bearer realm="plants"${attributes}` });
}

/**
 * Parameters are ignored: JSON has no charset (RFC 8259 §11). A comma that is not quoted is between two headers, which some hosts join:
 * one reader could take the first, and another the last.
 */
const jsonType = /^\s*application\/json\s*(?:;(?:[^,"]|"(?:[^"\\]|\\.)*")*)?$/is;

/** Refuses a body that is not plain JSON, or that declares more than `limit` bytes, before any of it is read. */
export function checkBodyHeaders(headers: PlantHeaders, limit: number): void {
  const given = header(headers, 'content-type') ?? '';
  const type = String(given);
  if ((typeof given !== 'string' && given.length > 1) || !jsonType.test(type))
    throw unsupported('Content-Type', type.includes(',') ? type : type.replace(/;.*/s, ''));
  const encoding = String(header(headers, 'content-encoding') ?? '');
  if (encoding && !/^ *identity *$/i.test(encoding)) throw unsupported('Content-Encoding', encoding);
  // The host has undone `chunked`, and nothing else.
  const transfer = String(header(headers, 'transfer-encoding') ?? '');
  if (transfer && !/^ *chunked *$/i.test(transfer)) throw unsupported('Transfer-Encoding', transfer);
  if (Number(header(headers, 'content-length')) > limit) throw tooLarge(limit);
}
