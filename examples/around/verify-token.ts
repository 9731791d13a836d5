import { createPlantStore, InsufficientScope } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

const sessions = new Map([['secret', { user: 'rosa', canWrite: true }]]);

export const handle = createPlantStore(memoryStorage(), async (token) => {
  const session = sessions.get(token);
  if (session?.canWrite === false) throw new InsufficientScope('plants:write');
  return session;
});
