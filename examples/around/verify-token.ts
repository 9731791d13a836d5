import { createHash } from 'node:crypto';
import { createPlantStore, InsufficientScope } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

const digest = (token: string) => createHash('sha256').update(token).digest('hex');
const sessions = new Map([[digest('secret'), { user: 'rosa', canWrite: true }]]);

export const handle = createPlantStore(memoryStorage(), async (token) => {
  const session = sessions.get(digest(token));
  if (session?.canWrite === false) throw new InsufficientScope('plants:write');
  return session;
});
