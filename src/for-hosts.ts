/** Internals that `adapters/hosts` may import; everything else comes from `index.ts`. */

export { checkHandler } from './check-handler.js';
export { routeSchema } from './document/route-schema.js';
export { type Global, isNotMine, isThenable, operation, own, pathOf } from './http.js';
export { Refusal } from './problems.js';
export { ChunkCollector, isBytes } from './request/body.js';
export { HostRequest } from './request/context.js';
export { mountMistake } from './request/mount-mistakes.js';
export { linger, Upload } from './request/upload.js';
export { checkOptions } from './rules.js';
export { nextMessage } from './timers.js';
