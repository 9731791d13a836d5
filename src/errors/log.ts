import { type PlantRequest, pathOf } from '../http.js';
import type { StorageStatus } from '../storage.js';
import { now, sleep } from '../timers.js';
import { framesOf } from './frames.js';
import { type ErrorNumber, problemOf } from './numbers.js';
import { propertyOf } from './property-of.js';
import { describe } from './shown.js';

/** A line is written once in this time: milliseconds. */
const intervalMs = 1_000;

/** How many lines are told apart at a time. Clients may cause any number of them. */
const maxLines = 1_000;

/** What was written of one line. */
interface Written {
  readonly line: string;
  /** How many errors with this line came since then. */
  count: number;
  at: number;
}

/**
 * Writes one line for each error: the code, the cause and, where it is known, the remedy; a stack only for a fault of a program.
 * A line is written at most once a second, and is not made before. The next one says how many more errors there were, and is written
 * even if no more come: lines and counts add up to the errors. A process that ends within that second loses the last count.
 */
export class ErrorLog {
  readonly #written = new Map<string, Written>();

  constructor(
    readonly write: (text: string) => void,
    readonly clock: { now(): number; sleep(ms: number): Promise<void> },
  ) {}

  log(error: unknown, request: PlantRequest, code: ErrorNumber): void {
    const said = describe(error, code);
    // Guarded routes fail for reasons of their own, all by this code.
    const key = this.#keyOf(
      code === 50000 ? `${code} ${targetOf(request)} ${said}` : `${code} ${said}`,
      code,
    );
    const written = this.#written.get(key);
    if (written) {
      written.count++;
      // The timer may be gone: on Workers it ends with the request that started it.
      if (this.clock.now() - written.at >= intervalMs) this.#writeCount(written);
      return;
    }
    const line = lineOf(said, request, code);
    this.write([line, ...framesOf(error, code).map(printable)].join('\n'));
    this.#written.set(key, { line, count: 0, at: this.clock.now() });
    this.#writeCountLater(key);
  }

  #keyOf(key: string, code: ErrorNumber): string {
    return this.#written.has(key) || this.#written.size < maxLines ? key : `${code}`;
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

const lineOf = (said: string, request: PlantRequest, code: ErrorNumber) =>
  printable(`plant-store: ${code} ${problemOf(code)}, ${targetOf(request)}: ${said}`);

/** All that a line has of a request: its method, and its path without the query. */
function targetOf(request: PlantRequest): string {
  const [method, url] = ['method', 'url'].map((member) => propertyOf(request, member));
  // A wrapper of the app may pass anything.
  return `${typeof method === 'string' ? method : ''} ${typeof url === 'string' ? pathOf(url.slice(0, 500)) : ''}`;
}

const errorLog = /* @__PURE__ */ new ErrorLog((text) => console.error(text), { now, sleep });

/** The default of `onError`: see `ErrorLog`. */
export const logError: ErrorLog['log'] = (...args) => errorLog.log(...args);

/**
 * Writes the default line of `onError` for every error, and then the error itself with its message, causes and fields. It is for
 * development, because it may quote the request, with names of plants and tokens.
 *
 * @example
 * ```ts
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { onError: logWithMessages });
 * ```
 */
export function logWithMessages(error: unknown, request: PlantRequest, code: ErrorNumber): void {
  console.error(lineOf(describe(error, code), request, code), error);
}

/** The default of `onStatus` of a storage: writes a line when plants have begun to fail, and one when they are stored again. */
export function logStatus(status: StorageStatus): void {
  const seconds = `${(status.ms / 1_000).toFixed(1)} s`;
  console.error(
    status.isWorking
      ? `plant-store: plants are stored again, after ${seconds} in which ${status.failed} ${status.failed === 1 ? 'create' : 'creates'} failed`
      : `plant-store: no plant has been stored for ${seconds}: ${describeError(status.cause, 50301)}`,
  );
}

/**
 * Returns, for a logger of your own, the one line that the default of `onError` writes about an error. It has plant-store's own words; of
 * other people's errors it has the class, a code that plant-store knows and names of the database's schema, but never the text.
 *
 * @param code the third argument of `onError`, by which it names who has failed
 *
 * @example
 * ```ts
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), {
 *   onError: (error, request, code) => console.log(JSON.stringify({ code, cause: describeError(error, code) })),
 * });
 * ```
 */
export function describeError(error: unknown, code?: ErrorNumber): string {
  return printable(describe(error, code));
}

/** The longest line: an app's own words, and its path, may be longer. */
const shorten = (line: string) => (line.length > 1_000 ? `${line.slice(0, 1_000)} …` : line);

/** Escapes controls, line separators and bidirectional marks. */
function printable(line: string): string {
  // Cut before, because each escape is longer than what it stands for, and after.
  return shorten(shorten(line).replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, encodeURI));
}
