import { propertyOf } from './property-of.js';

/** What an error may quote: requests, plants, rows, a body. An empty list: nothing, its message is plant-store's own words. */
type Sources = readonly unknown[];

/**
 * By error. One map for all copies of this package in a process: an app may load the handler as ESM and its storage as
 * CommonJS.
 */
function registry(): WeakMap<object, Sources> {
  const shared = globalThis as unknown as Record<symbol, WeakMap<object, Sources> | undefined>;
  const key = Symbol.for('plant-store.quotable');
  known ??= shared[key] ??= new WeakMap();
  return known;
}

let known: WeakMap<object, Sources> | undefined;

/** How many causes of an error are looked at. */
const mostCauses = 5;

/** An error and its causes, as far as they are objects. */
function chainOf(error: unknown): object[] {
  const chain: object[] = [];
  for (let each = error; Object(each) === each && chain.length < mostCauses; each = propertyOf(each, 'cause'))
    chain.push(each as object);
  return chain;
}

/** Says that the message of an error is plant-store's own words, codes and names, and returns the error. */
export function ownWords<E extends object>(error: E): E {
  registry().set(error, []);
  return error;
}

/**
 * Says what an error of somebody else, and its causes, may quote. The first word counts: an error that was thrown again quotes
 * nothing that came after it, and one that a batch has thrown may quote all of its plants, whichever create gets it.
 */
export function mayQuote(error: unknown, ...sources: Sources): void {
  const known = registry();
  for (const each of chainOf(error)) if (!known.has(each)) known.set(each, sources);
}

/** In place of sources: what a guarded handler has read of a body is not known. */
export const anything = Symbol('anything');

/** What an error may quote; `undefined` if nobody has said it. */
export function sourcesOf(error: unknown): Sources | undefined {
  return Object(error) === error ? registry().get(error as object) : undefined;
}
