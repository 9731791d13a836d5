import { type PlantRequest, pathOf } from './http.js';
import { type ErrorNumber, problems, propertyOf } from './problems.js';

/** Errors whose message says all: those of this package, and of a timeout. */
const explained = ['StorageBusy', 'RolledBack', 'BodyError', 'SetupError', 'TimeoutError'];

/** Errors of jsonwebtoken and jose that mean an invalid token. */
const ofInvalidToken = /^(JsonWebToken|TokenExpired|NotBefore)Error$|^JW[ST]/;

/** When a line was last written about an outage, and about each table and login that somebody has to set up. */
const writtenAt = new Map<string, number>();

let unlogged = 0;

/**
 * The default of `onError`: writes one line with the error code, the cause and, where it is known, the remedy; a stack only
 * for errors that explain nothing else. Writes at most one line a second about an outage, with the count of those before it
 * that were not written; and at most one a minute about a table that every create fails on.
 */
export function logError(error: unknown, request: PlantRequest, code: ErrorNumber): void {
  const thrown = nameOf(error);
  const isOutage = thrown === 'StorageBusy' || thrown === 'TimeoutError';
  if (isOutage && !isDue('outage', 1_000)) return void unlogged++;
  const [name] = Object.entries(problems).find(([, [number]]) => number === code)!;
  const target = `${propertyOf(request, 'method')} ${pathOf(`${propertyOf(request, 'url')}`)}`;
  const message = messageOf(error);
  let line = `plant-store: ${code} ${name}, ${target}: ${message}`;
  if (code === 50002 && ofInvalidToken.test(thrown)) {
    line +=
      '. verifyToken must return null for an invalid token, and throw only if it could not check the token';
  }
  const isOfSetup = nameOf(propertyOf(error, 'cause')) === 'SetupError';
  if (isOfSetup && !isDue(message, 60_000)) return;
  if (isOutage && unlogged > 0) {
    line += ` (${unlogged} more)`;
    unlogged = 0;
  }
  console.error([line, ...framesOf(error)].map(printable).join('\n'));
}

/** Whether nothing was written about a subject for `ms` milliseconds, or the clock was set back. */
function isDue(subject: string, ms: number): boolean {
  const isDue = !(Math.abs(Date.now() - writtenAt.get(subject)!) < ms);
  if (isDue) writtenAt.set(subject, Date.now());
  return isDue;
}

const nameOf = (thrown: unknown) => String(propertyOf(thrown, 'name'));

/** The message of an error, and those of its causes that it does not quote itself. */
function messageOf(error: unknown, depth = 1): string {
  const own = textOf(error);
  const cause = depth < 5 && propertyOf(error, 'cause');
  const rest = cause ? messageOf(cause, depth + 1) : '';
  if (own.includes(rest)) return own;
  return own === propertyOf(cause, 'message') ? rest : `${own}: ${rest}`;
}

function textOf(thrown: unknown): string {
  // The AggregateError of a refused connection has a code and no message.
  const text = propertyOf(thrown, 'message') || propertyOf(thrown, 'code');
  if (typeof text !== 'string') return typeof thrown === 'object' ? 'an object was thrown' : String(thrown);
  const name = nameOf(thrown);
  return isExplained(thrown) || name === 'Error' ? text : `${name}: ${text}`;
}

/** Whether the message suffices: an error of this package, or one with the code of a driver or of the system. */
function isExplained(thrown: unknown): boolean {
  const code = propertyOf(thrown, 'code');
  return explained.includes(nameOf(thrown)) || (typeof code === 'string' && !code.startsWith('ERR_'));
}

/** The lines of an unexpected error's stack, without its message, which may quote a client. */
function framesOf(error: unknown): string[] {
  if (isExplained(error)) return [];
  const [, ...parts] = String(propertyOf(error, 'stack')).split(`${propertyOf(error, 'message')}\n`);
  return parts.join().match(/^ {4}at .+/gm) ?? [];
}

/** Escapes controls, line separators and bidirectional marks: what a driver says may quote a client. */
function printable(line: string): string {
  const escaped = line.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, encodeURI);
  return escaped.length > 1_000 ? `${escaped.slice(0, 1_000)} …` : escaped;
}
