import type { PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

/** A storage, and how to let go of it. */
export interface OpenStorage {
  readonly storage: PlantStorage;
  readonly close: () => Promise<void>;
}

/** Opens what a `DATABASE_URL` names. Rejects with a message for a person. */
export async function openStorage(url: string): Promise<OpenStorage> {
  const scheme = url.split(':', 1)[0];
  if (scheme === 'memory') return { storage: memoryStorage(), close: async () => {} };
  throw new Error(`DATABASE_URL must start with memory:, not ${JSON.stringify(scheme)}`);
}
