/** What plant-store says of an error: instead of its message, or in front of what it shows of an error that is somebody else's. */
interface Words {
  readonly words: string;
  readonly isWhole: boolean;
}

/**
 * By error, as it was when it was said. One map for all copies of this package in a process: an app may load the handler as ESM and its
 * storage as CommonJS.
 */
function registry(): WeakMap<object, Words> {
  const shared = globalThis as unknown as Record<symbol, WeakMap<object, Words> | undefined>;
  const key = Symbol.for('plant-store.own-words');
  known ??= shared[key] ??= new WeakMap();
  return known;
}

let known: WeakMap<object, Words> | undefined;

/**
 * Says that these words about an error are plant-store's own, and returns the error. The log shows them, and of everybody else no text.
 *
 * @param words kept as they are now: what is written into `message` later is somebody else's
 */
export function ownWords<E extends { readonly message: string }>(error: E, words = error.message): E {
  registry().set(error, { words, isWhole: true });
  return error;
}

/** Says what happened when somebody else's error was caught: the log shows it in front of the error's class and code. */
export function wordsBefore(error: unknown, words: string): void {
  if (Object(error) === error && !registry().has(error as object))
    registry().set(error as object, { words, isWhole: false });
}

/** An error whose message is plant-store's own words, or those that an app gives to a class of plant-store. */
export class OwnError extends Error {
  constructor(message?: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    ownWords(this);
  }
}

/** Returns what plant-store itself says in an error; `undefined` if the error is somebody else's. */
export function ownWordsOf(error: unknown): string | undefined {
  // Of what is no object there is none.
  const found = registry().get(error as object);
  return found?.isWhole ? found.words : undefined;
}

/** Returns what plant-store says in front of an error that is somebody else's. */
export function wordsBeforeOf(error: unknown): string | undefined {
  const found = registry().get(error as object);
  return found?.isWhole === false ? found.words : undefined;
}
