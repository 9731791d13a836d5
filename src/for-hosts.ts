/** The one door through which `adapters/hosts` reach what users do not: everything else they take from `index.ts`. */
export { type Global, isBytes, isNotMine, operation, pathOf } from './http.js';
export { WithSignal } from './lazy-signal.js';
export { checkHandler, respondToMistake } from './mount-mistakes.js';
export { openapi } from './openapi.js';
export { checkOptions, pathPattern } from './options.js';
export { Refusal, withPath } from './problems.js';
export { endOfTurn, nextMessage, wait } from './timers.js';
export { ChunkCollector, lingerMs, Upload } from './upload.js';
