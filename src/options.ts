import type { ErrorNumber } from './error-numbers.js';
import { isPath, type MaybePromise, own, type PlantRequest } from './http.js';
import { inspect } from './inspect.js';
import { logError } from './log.js';

/** The options of `createPlantStore`. */
export interface PlantStoreOptions {
  /** URL prefix before `/plants`, for hosts that pass the full path, such as `/api`. Default: none. */
  readonly basePath?: string | undefined;
  /** The largest request body, in bytes. Default: 1 048 576. */
  readonly bodyLimit?: number | undefined;
  /** The time limit of a request in milliseconds; 0 for none. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Returns 200 again for an identical plant, so that clients can retry. Requires `storage.find`. Default: false. */
  readonly acceptReplays?: boolean | undefined;
  /**
   * Called once with the cause of every 5xx, and with its error code, for the level of a log line. It cannot change the
   * response. A host's request shows neither credentials nor `raw` if it is logged as a whole. Default: writes one line to
   * `console.error`, with the remedy if it is known; of each message at most one a second, with a count.
   */
  readonly onError?:
    | ((error: unknown, request: PlantRequest, code: ErrorNumber) => MaybePromise<void>)
    | undefined;
}

/** One option: the default, the check, and the check in words. */
type Rule<T> = readonly [fallback: T, isValid: (value: unknown) => boolean, expected: string];

export type Rules<Options> = { readonly [Name in keyof Options]-?: Rule<NonNullable<Options[Name]>> };

/** The options with their defaults filled in. */
export type Complete<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> };

export const plantStoreRules: Rules<PlantStoreOptions> = {
  basePath: [
    '',
    (value) => typeof value === 'string' && isPath(value),
    'a percent-encoded path that starts with "/" and does not end with one, such as "/api"',
  ],
  bodyLimit: integer(1_048_576, 1, Number.MAX_SAFE_INTEGER),
  timeoutMs: integer(30_000, 0),
  acceptReplays: [false, (value) => typeof value === 'boolean', 'true or false'],
  onError: callback(logError),
};

/** @param max 2^31-1 unless given, because `setTimeout` fires at once beyond that */
export function integer(fallback: number, min: number, max: number = 2 ** 31 - 1): Rule<number> {
  const isValid = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return [fallback, isValid, `an integer from ${min} to ${max}`];
}

export function callback<Value>(fallback: Value): Rule<Value> {
  return [fallback, (value) => typeof value === 'function', 'a function'];
}

/**
 * Fills in the defaults. The one check of options, for `createPlantStore` and `groupCommit`.
 *
 * @param names the options that may be given
 * @throws {TypeError} if an option is unknown or invalid
 */
export function checkOptions<Options extends object>(
  options: Options,
  rules: Rules<Options>,
  names = Object.keys(rules),
): Complete<Options> {
  for (const name of Object.keys(options).filter((name) => !names.includes(name)))
    throw new TypeError(`unknown option ${name}; the options are ${names.join(', ')}`);
  const given = own(options);
  const settings: Record<string, unknown> = {};
  for (const [name, [fallback, isValid, expected]] of Object.entries<Rule<unknown>>(rules)) {
    const { [name as keyof Options]: value = fallback } = given;
    if (!isValid(value)) throw new TypeError(`${name} must be ${expected}, got ${inspect(value)}`);
    settings[name] = value;
  }
  return settings as Complete<Options>;
}
