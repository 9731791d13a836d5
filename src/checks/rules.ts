import { inspect, kindOf } from '../errors/inspect.js';
import { own } from '../http.js';

/** One option: the default, the check, and the check in words. */
type Rule<T> = readonly [fallback: T, isValid: (value: unknown) => boolean, expected: string];

export type Rules<Options> = { readonly [Name in keyof Options]-?: Rule<NonNullable<Options[Name]>> };

/** The options with their defaults filled in. */
export type Complete<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> };

/** @param max 2^31-1 unless given, because `setTimeout` fires at once beyond that */
export function integer(fallback: number, min: number, max: number = 2 ** 31 - 1): Rule<number> {
  const isValid = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return [fallback, isValid, `an integer from ${min} to ${max}`];
}

export function callback<Value>(fallback: Value): Rule<Value> {
  return [fallback, (value) => typeof value === 'function', 'a function'];
}

export function boolean(fallback: boolean): Rule<boolean> {
  return [fallback, (value) => typeof value === 'boolean', 'true or false'];
}

/** @throws {TypeError} if these are no options, or one has another name */
export function checkNames(options: object, names: readonly string[]): void {
  if (Object(options) !== options)
    throw new TypeError(`the options must be an object, got ${kindOf(options)}`);
  for (const name of Object.keys(options).filter((name) => !names.includes(name)))
    throw new TypeError(`unknown option ${name}; the options are ${names.join(', ')}`);
}

/**
 * Fills in the defaults: the one check of options.
 *
 * @param names the options that may be given
 * @throws {TypeError} if an option is unknown or invalid
 */
export function checkOptions<Options extends object>(
  options: Options,
  rules: Rules<Options>,
  names = Object.keys(rules),
): Complete<Options> {
  checkNames(options, names);
  const given = own(options);
  const settings: Record<string, unknown> = {};
  for (const [name, [fallback, isValid, expected]] of Object.entries<Rule<unknown>>(rules)) {
    const { [name as keyof Options]: value = fallback } = given;
    if (!isValid(value)) throw new TypeError(`${name} must be ${expected}, got ${inspect(value)}`);
    settings[name] = value;
  }
  return settings as Complete<Options>;
}
