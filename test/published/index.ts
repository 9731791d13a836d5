export { type FetchLike, type HostCase, hostCases, type OpenedHost } from './host-cases.js';
export { type RunnerContext, type StorageCase, storageCases } from './storage-cases.js';
export type { OpenedStorage } from './trial.js';
