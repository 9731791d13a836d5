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

const defaults = {
  basePath: '',
  bodyLimit: 1_048_576,
  timeoutMs: 30_000,
  acceptReplays: false,
  onError: (error: unknown): void => console.error(error),
} satisfies PlantStoreOptions;

/** Beyond it `setTimeout` fires at once. */
const longestTimer = 2 ** 31 - 1;

const rules: Record<keyof PlantStoreOptions, { valid: (value: unknown) => boolean; expected: string }> = {
  basePath: {
    valid: (value) => typeof value === 'string' && /^(\/[^/?#]+)*$/.test(value),
    expected: 'a path such as "/api", without a slash at its end',
  },
  bodyLimit: {
    valid: (value) => isWhole(value) && value >= 1,
    expected: 'a whole number of bytes, at least 1',
  },
  timeoutMs: {
    valid: (value) => isWhole(value) && value <= longestTimer,
    expected: `a whole number of milliseconds from 0 (no limit) to ${longestTimer}`,
  },
  acceptReplays: { valid: (value) => typeof value === 'boolean', expected: 'true or false' },
  onError: { valid: (value) => typeof value === 'function', expected: 'a function (error, request)' },
};

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The options, complete.
 *
 * @throws {TypeError} that names what is wrong and says what it must be
 */
export function checkOptions(options: PlantStoreOptions): Required<PlantStoreOptions> & typeof defaults {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const rule = Object.hasOwn(rules, name) && rules[name as keyof PlantStoreOptions];
    if (!rule) throw new TypeError(`${name} is not an option; there are ${Object.keys(rules).join(', ')}`);
    if (!rule.valid(value)) throw new TypeError(`${name} must be ${rule.expected}`);
  }
  return { ...defaults, ...Object.fromEntries(given) };
}
