/** Internals that `adapters/storages` may import; everything else comes from `index.ts`. */

export { mayQuote, ownWords } from './quotable.js';
