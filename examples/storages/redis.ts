// Redis: `REDIS_URL=redis://… node --import tsx examples/storages/redis.ts`. README.md lists its promises.
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { acceptTokens, createPlantStore, describeError, type PlantStorage } from 'plant-store';
import { toNode } from 'plant-store/node';

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', {
  // Otherwise ioredis would retry a SET whose reply was lost, find its own plant and report `taken`.
  maxRetriesPerRequest: 0,
  enableAutoPipelining: true,
});
// ioredis reconnects by itself.
redis.on('error', (error) => console.error(describeError(error)));

export const storage: PlantStorage = {
  async create({ id, name, tag }) {
    const reply = await redis.set(`plant:${id}`, JSON.stringify({ name, tag }), 'NX');
    return reply === 'OK' ? 'created' : 'taken';
  },
  async find(id) {
    const text = await redis.get(`plant:${id}`);
    return text === null ? undefined : { id, ...JSON.parse(text) };
  },
};

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
