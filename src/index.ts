export {
  acceptTokens,
  type Falsy,
  InsufficientScope,
  type VerifyContext,
  type VerifyToken,
} from './bearer.js';
export { describeError, logWithMessages } from './errors/log.js';
export { type ErrorNumber, errorNumbers, type Problem } from './errors/numbers.js';
export {
  type BatchCall,
  type CreateMany,
  type CreateOutcome,
  type RollbackReason,
  RolledBack,
} from './group-commit/create-many.js';
export { type GroupCommitStorage, groupCommit } from './group-commit/group-commit.js';
export type {
  BatchReport,
  GroupCommitOptions,
  GroupCommitState,
} from './group-commit/options.js';
export { type GuardOptions, guard, json } from './guard.js';
export {
  BodyError,
  type MaybePromise,
  type PlantBody,
  type PlantHandler,
  type PlantHeaders,
  type PlantRequest,
  type PlantResponse,
  type ReadBody,
  type RouteParams,
  type Signal,
} from './http.js';
export type { PlantStoreOptions } from './options.js';
export type { NewPlant, Plant, Whole } from './plant/plant.js';
export { createPlantStore } from './plant-store.js';
export {
  PlantRefused,
  type PlantStorage,
  StorageBusy,
  type StorageContext,
  type StorageStatus,
} from './storage.js';
