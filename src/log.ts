import { type ErrorNumber, problemOf } from './error-numbers.js';
import { type PlantRequest, pathOf } from './http.js';
import { isFaultOfProgram } from './problems.js';
import { propertyOf } from './property-of.js';
import { quotableOf } from './quoted-text.js';
import { takeOut } from './take-out.js';
import { now, sleep } from './timers.js';

/** A message is written once in this time: milliseconds. */
const intervalMs = 1_000;

/** How many messages are told apart at a time. Clients may cause any number of them. */
const maxMessages = 1_000;

/** What was written of one message. */
interface Written {
  readonly line: string;
  /** How many errors with this message came since then. */
  count: number;
  at: number;
}

/**
 * Writes one line for each error: the code, the cause and, where it is known, the remedy; a stack only for a fault of a program.
 * A message is written at most once a second. The next line of it says how many more there were, and is written even if
 * no more come: lines and counts add up to the errors. A process that ends within that second loses the last count.
 */
export class ErrorLog {
  readonly #written = new Map<string, Written>();

  constructor(
    readonly write: (text: string) => void,
    readonly clock: { now(): number; sleep(ms: number): Promise<void> },
  ) {}

  log(error: unknown, request: PlantRequest, code: ErrorNumber): void {
    const target = `${propertyOf(request, 'method')} ${pathOf(`${propertyOf(request, 'url')}`)}`;
    const message = start(messageOf(error)) + hintOf(error, code);
    const key = this.#keyOf(`${code} ${message}`, code);
    const written = this.#written.get(key);
    if (written) {
      written.count++;
      // The timer may be gone: on Workers it ends with the request that started it.
      if (this.clock.now() - written.at >= intervalMs) this.#writeCount(written);
      return;
    }
    const line = printable(`plant-store: ${code} ${problemOf(code)}, ${target}: ${message}`);
    this.write([line, ...framesOf(error).map(printable)].join('\n'));
    this.#written.set(key, { line, count: 0, at: this.clock.now() });
    this.#writeCountLater(key);
  }

  #keyOf(key: string, code: ErrorNumber): string {
    return this.#written.has(key) || this.#written.size < maxMessages ? key : `${code}`;
  }

  #writeCountLater(key: string): void {
    this.clock.sleep(intervalMs).then(() => {
      const written = this.#written.get(key)!;
      if (written.count === 0) return void this.#written.delete(key);
      this.#writeCount(written);
      this.#writeCountLater(key);
    });
  }

  /** Writes the line again: it stands for one of the errors that came since. */
  #writeCount(written: Written): void {
    this.write(written.count > 1 ? `${written.line} (${written.count - 1} more)` : written.line);
    written.count = 0;
    written.at = this.clock.now();
  }
}

const errorLog = /* @__PURE__ */ new ErrorLog((text) => console.error(text), { now, sleep });

/** The default of `onError`: see `ErrorLog`. */
export function logError(error: unknown, request: PlantRequest, code: ErrorNumber): void {
  errorLog.log(error, request, code);
}

/**
 * Returns what the default of `onError` writes of an error, for a logger of the app's own: the message and those of its causes in
 * one line, without any value of the request. For what `onError` got: what another error may quote is not known.
 *
 * @example
 * ```ts
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), {
 *   onError: (error, request, code) => console.log(JSON.stringify({ code, cause: describeError(error) })),
 * });
 * ```
 */
export function describeError(error: unknown): string {
  return printable(start(messageOf(error)));
}

/** What libraries for tokens throw is usually about the token, and no outage. */
function hintOf(error: unknown, code: ErrorNumber): string {
  if (code !== 50002 || nameOf(error) === 'TimeoutError') return '';
  return '. verifyToken must return null for an invalid token, and throw only if it could not check the token';
}

const nameOf = (thrown: unknown) => String(propertyOf(thrown, 'name'));

/** The message of an error, and those of its causes that it does not quote itself. */
function messageOf(error: unknown, depth = 1): string {
  const own = textOf(error);
  const cause = depth < 5 && propertyOf(error, 'cause');
  const rest = cause ? messageOf(cause, depth + 1) : '';
  if (own.includes(rest)) return own;
  return propertyOf(error, 'message') === propertyOf(cause, 'message') ? rest : `${own}: ${rest}`;
}

/** The message of one error, without what it quotes of a request; then its codes and names say the rest. */
function textOf(thrown: unknown): string {
  if (Object(thrown) !== thrown)
    return thrown === undefined ? 'undefined was thrown' : `a ${typeof thrown} was thrown`;
  // The AggregateError of a refused connection has a code and no message.
  const text = propertyOf(thrown, 'message') || propertyOf(thrown, 'code');
  if (typeof text !== 'string') return 'an object was thrown';
  const quotable = quotableOf(thrown);
  const shown = quotable === undefined ? withheld : takeOut(start(text), quotable);
  const said = isFaultOfProgram(thrown) ? `${nameOf(thrown)}: ${shown}` : shown;
  const names = shown === start(text) ? [] : namesIn(thrown, quotable);
  return names.length > 0 ? `${said} (${names.join(', ')})` : said;
}

const withheld = 'its message may quote a request, and is not shown';

/** The longest part of a message that is looked at: a client may have caused the rest of it. */
const start = (text: string) => (text.length > 1_000 ? `${text.slice(0, 1_000)} …` : text);

/** What drivers set beside a message, as they document it: what it is about, in names of the database, the system or the app. */
const namesOfErrors = [
  'code',
  'errno',
  'sqlState',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'routine',
  'syscall',
];

/** @param quotable `undefined`: what the error may quote is not known, and names may be among it */
function namesIn(thrown: unknown, quotable: string | undefined): string[] {
  return namesOfErrors.flatMap((member) => {
    const value = propertyOf(thrown, member);
    // As a number, the column is one of the source, which Bun's engine sets on each error.
    const isNumber = typeof value === 'number' && member !== 'column';
    const mayBeShown = quotable === undefined ? isCode : isName;
    if (!isNumber && !(typeof value === 'string' && mayBeShown.test(value))) return [];
    if (takeOut(`${value}`, quotable ?? '') !== `${value}`) return [];
    return member === 'code' ? `${value}` : `${member} ${value}`;
  });
}

/** As SQLSTATEs, Node, the system and libraries write a code: `23505`, `ERR_STREAM_DESTROYED`, `ECONNREFUSED`, `P2002`. */
const isCode = /^[A-Z\d_]{1,63}$/;

/** A name of the database, the system or the app. */
const isName = /^[\w$.-]{1,63}$/;

/** The lines of the stack of a fault of a program, behind its message, which may quote a client. */
function framesOf(error: unknown): string[] {
  const fault = [error, propertyOf(error, 'cause')].find(isFaultOfProgram);
  if (!fault) return [];
  const message = String(propertyOf(fault, 'message'));
  const [first, ...rest] = String(propertyOf(fault, 'stack')).split(`${message}\n`);
  // A message that was changed later is not found, and its lines may look like frames.
  const isFound = rest.length > 0 && !first!.includes('\n');
  return isFound ? (rest.join('').match(/^ {4}at .+/gm) ?? []) : [];
}

/** Escapes controls, line separators and bidirectional marks: what a driver says may quote a client. */
function printable(line: string): string {
  // Cut before, because each escape is longer than what it stands for, and after.
  return start(start(line).replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, encodeURI));
}
