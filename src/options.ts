import type { MaybePromise, PlantRequest } from './http.js';

/** The options of `createPlantStore`. */
export interface PlantStoreOptions {
  /** The path in front of `/plants` where the host does not strip its mount, such as `/api`. Default: none. */
  readonly basePath?: string | undefined;
  /** The largest body that is read, in bytes. Default: 1 048 576. */
  readonly bodyLimit?: number | undefined;
  /** How long a request may take, from its first line to the storage's answer, in milliseconds; 0 for ever. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Answer 200 again to a create that equals the stored plant, so that clients can retry. Needs `storage.find`. Default: false. */
  readonly acceptReplays?: boolean | undefined;
  /** Told the cause of every 5xx, once; what it does changes no answer. Default: `console.error`. */
  readonly onError?: ((error: unknown, request: PlantRequest) => MaybePromise<void>) | undefined;
}

/** What each option is unless given, what it may be, and that in words. */
const rules = {
  basePath: [
    '',
    (value: unknown) => typeof value === 'string' && /^(\/[^/?#]+)*$/.test(value),
    'a path such as "/api"',
  ],
  bodyLimit: whole(1_048_576, 1, Number.MAX_SAFE_INTEGER),
  // Beyond 2^31-1 setTimeout fires at once.
  timeoutMs: whole(30_000, 0, 2 ** 31 - 1),
  acceptReplays: [false, (value: unknown) => typeof value === 'boolean', 'true or false'],
  onError: [
    (error: unknown) => console.error(error),
    (value: unknown) => typeof value === 'function',
    'a function',
  ],
} as const;

function whole(otherwise: number, least: number, most: number) {
  const isValid = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  return [otherwise, isValid, `a whole number from ${least} to ${most}`] as const;
}

/** The options, complete. */
type Settings = { readonly [Name in keyof PlantStoreOptions]-?: NonNullable<PlantStoreOptions[Name]> };

/**
 * Completes the options.
 *
 * @throws {TypeError} that names what is wrong and says what it must be
 */
export function checkOptions(options: PlantStoreOptions): Settings {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(rules, name));
  if (unknown) throw new TypeError(`${unknown} is not an option; there are ${Object.keys(rules).join(', ')}`);
  const settings = Object.entries(rules).map(([name, [otherwise, isValid, expected]]) => {
    const { [name as keyof typeof rules]: value = otherwise } = options;
    if (!isValid(value)) throw new TypeError(`${name} must be ${expected}`);
    return [name, value];
  });
  return Object.fromEntries(settings);
}
