/** Internals that `adapters/hosts` may import; everything else comes from `index.ts`. */

export { checkHandler } from './checks/handler.js';
export { checkOptions } from './checks/rules.js';
export { routeSchema } from './document/route-schema.js';
export { Refusal } from './errors/problems.js';
export { propertyOf, unlessInherited } from './errors/property-of.js';
export { type Global, isCreate, isNotMine, operation, own, pathOf } from './http.js';
export { ChunkCollector, isBytes } from './request/body.js';
export { HostRequest } from './request/context.js';
export { mountMistake } from './request/mount-mistakes.js';
export { Upload } from './request/upload.js';
export { nextMessage } from './timers.js';
