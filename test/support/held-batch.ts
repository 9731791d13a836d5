import { groupCommit, type PlantStorage } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { deferred } from './deferred.js';

/** A storage whose first batch is in flight until `end` is called. */
export function heldBatch() {
  const [begun, end] = [deferred(), deferred()];
  /** The ids of each batch. */
  const sent: bigint[][] = [];
  const { create } = memoryStorage();
  const grouped = groupCommit(async (plants, contexts) => {
    sent.push(plants.map(({ id }) => id));
    begun.resolve();
    await end.promise;
    return Promise.all(plants.map((plant, i) => create(plant, contexts[i]!)));
  });
  const waiting: (() => void)[] = [];
  const storage: PlantStorage = {
    create(plant, context) {
      const creating = grouped.create(plant, context);
      if (sent.length === 1) waiting.shift()?.();
      return creating;
    },
  };
  /** Resolves when another create has begun to wait. Ask before it is sent. */
  const waits = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { storage, sent, begun: begun.promise, waits, end: end.resolve };
}
