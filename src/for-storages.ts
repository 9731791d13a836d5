/** Internals that `adapters/storages` may import; everything else comes from `index.ts`. */

export { checkNames } from './checks/rules.js';
export { withCauses } from './errors/causes.js';
export { kindOf } from './errors/inspect.js';
export { OwnError, ownWords, ownWordsOf, wordsBefore } from './errors/own-words.js';
export { isFaultOfProgram } from './errors/problems.js';
export { groupCommitRules } from './group-commit/options.js';
export { own } from './http.js';
export { isWorkers, systemClock } from './timers.js';
