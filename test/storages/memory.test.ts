import { createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, it, vi } from 'vitest';
import { createRequest } from '../support/plants.js';
import { contextOf } from './context.js';

describe('memoryStorage with a namespace', () => {
  it('takes a value for its text, as databases do', async () => {
    const { create } = memoryStorage<unknown>(new Map(), {
      namespace: { tenant: ({ caller }) => caller as string },
    });
    for (const same of [[1, 1n, '1'], [true, 'true'], [new Date(0), new Date(0).toISOString()], ['["1"]']]) {
      const outcomes = [];
      for (const tenant of same) outcomes.push(await create({ id: 1n, name: 'Rosa' }, contextOf(tenant)));
      expect(outcomes).toEqual(['created', ...same.slice(1).map(() => 'taken')]);
    }
  });

  it('calls its functions once a create, also if that is a replay', async () => {
    const tenant = vi.fn(({ caller }: { caller: string }) => caller);
    const storage = memoryStorage<string>(new Map(), { namespace: { tenant } });
    const handle = createPlantStore(storage, () => 'garden', { acceptReplays: true });
    const request = createRequest('a');
    expect([(await handle(request)).status, (await handle(request)).status]).toEqual([200, 200]);
    expect(tenant).toHaveBeenCalledTimes(2);
  });
});
