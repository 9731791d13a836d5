import { type PlantRequest, pathOf } from './http.js';
import { type ErrorNumber, isNamed, problems, propertyOf } from './problems.js';

/** Errors of this package: their messages say all. */
const explained = ['StorageBusy', 'RolledBack', 'BodyError', 'UnusableTable', 'TimeoutError'];

/** Errors of jsonwebtoken and jose that mean an invalid token. */
const ofInvalidToken = /^(JsonWebToken|TokenExpired|NotBefore)Error$|^JW[ST]/;

let outageLoggedAt = Number.NEGATIVE_INFINITY;
let unlogged = 0;

/**
 * The default of `onError`: writes one line with the error code, the cause and, where it is known, the remedy; a stack only
 * for errors that explain nothing else. Writes at most one line a second about an outage, with the count of the others.
 */
export function logError(error: unknown, request: PlantRequest, code: ErrorNumber): void {
  const isOutage = isNamed(error, 'StorageBusy') || isNamed(error, 'TimeoutError');
  // The absolute value, because the clock may be set back.
  if (isOutage && Math.abs(Date.now() - outageLoggedAt) < 1_000) return void unlogged++;
  const [name] = Object.entries(problems).find(([, [number]]) => number === code)!;
  const target = `${propertyOf(request, 'method')} ${pathOf(`${propertyOf(request, 'url')}`)}`;
  let line = `plant-store: ${code} ${name}, ${target}: ${messageOf(error)}`;
  const thrown = String(propertyOf(error, 'name'));
  if (code === 50002 && ofInvalidToken.test(thrown)) {
    line += `. verifyToken threw ${thrown}: return null for an invalid token; throw only if the token cannot be checked`;
  }
  if (isOutage) {
    if (unlogged > 0) line += ` (${unlogged} more)`;
    outageLoggedAt = Date.now();
    unlogged = 0;
  }
  console.error([line, ...framesOf(error)].map(printable).join('\n'));
}

/** The message of an error, and those of its causes that it does not quote itself. */
function messageOf(error: unknown): string {
  let text = '';
  let cause = error;
  for (let depth = 0; depth < 5 && (depth === 0 || cause); depth++) {
    const message = textOf(cause);
    if (!text.includes(message)) text += text ? `: ${message}` : message;
    cause = propertyOf(cause, 'cause');
  }
  return text;
}

function textOf(thrown: unknown): string {
  // The AggregateError of a refused connection has a code and no message.
  const text = propertyOf(thrown, 'message') || propertyOf(thrown, 'code');
  if (typeof text !== 'string') return typeof thrown === 'object' ? 'an object was thrown' : String(thrown);
  const name = propertyOf(thrown, 'name');
  return isExplained(thrown) || name === 'Error' ? text : `${name}: ${text}`;
}

/** Whether the message suffices: an error of this package, or one with the code of a driver or of the system. */
function isExplained(thrown: unknown): boolean {
  const code = propertyOf(thrown, 'code');
  return (
    explained.some((name) => isNamed(thrown, name)) || (typeof code === 'string' && !code.startsWith('ERR_'))
  );
}

/** The lines of an unexpected error's stack, without its message, which may quote a client. */
function framesOf(error: unknown): string[] {
  const stack = propertyOf(error, 'stack');
  if (typeof stack !== 'string' || isExplained(error)) return [];
  const head = `${propertyOf(error, 'message')}\n`;
  const start = stack.indexOf(head);
  const frames = start < 0 ? [] : stack.slice(start + head.length).split('\n');
  return frames.filter((line) => line.startsWith('    at '));
}

/** Escapes controls, line separators and bidirectional marks: what a driver says may quote a client. */
function printable(line: string): string {
  const escaped = line.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escaped.length > 1_000 ? `${escaped.slice(0, 1_000)} …` : escaped;
}
