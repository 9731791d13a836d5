import { inspect } from '../errors/inspect.js';

/** The grammar of a bearer token (RFC 6750 §2.1, `b68token`). */
export const token68 = '[A-Za-z0-9._~+/-]+=*';

/**
 * Checks a token of the app's own.
 *
 * @param what the words before "must be" in the message
 * @param otherwise what else may be passed, for the message
 * @throws {TypeError} if no header `Authorization: Bearer` can carry it; the message does not show it, because it is a secret
 */
export function checkToken(token: unknown, what: string, otherwise = ''): asserts token is string {
  if (typeof token === 'string' && new RegExp(`^${token68}$`).test(token)) return;
  throw new TypeError(
    `${what} must be a string of A-Z a-z 0-9 - . _ ~ + / with "=" at its end only${otherwise}, got ${tokenInWords(token)}`,
  );
}

/** What came in place of a token. Of a string no more than what is wrong. */
function tokenInWords(token: unknown): string {
  if (token === undefined) return 'undefined; is the environment variable set?';
  if (typeof token !== 'string') return inspect(token);
  if (token === '') return 'an empty string';
  if (/^bearer /i.test(token)) return 'a string that begins with "Bearer "; pass the token alone';
  return `a string with ${JSON.stringify(/[^\w.~+/-]/.exec(token)?.[0])}`;
}
