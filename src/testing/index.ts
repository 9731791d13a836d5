export { type FetchLike, type HostCase, hostCases, type OpenedHost } from './host-cases.js';
export { type OpenedStorage, type StorageCase, storageCases } from './storage-cases.js';
