export { type OpenedStorage, type StorageCase, storageCases } from './storage-cases.js';
