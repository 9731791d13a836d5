/** Internals that `adapters/storages` may import; everything else comes from `index.ts`. */

export { groupCommitRules } from './group-commit/options.js';
export { kindOf } from './inspect.js';
export { isFaultOfProgram } from './problems.js';
export { mayQuote, ownWords } from './quotable.js';
export { checkNames } from './rules.js';
export { systemClock } from './timers.js';
