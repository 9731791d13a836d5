// Redis: `REDIS_URL=redis://… node --import tsx examples/storages/redis.ts`. README.md says what it promises.
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toNode } from 'plant-store/node';

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', {
  // If an answer is lost, ioredis would send the SET again, find its own plant and report `taken`.
  maxRetriesPerRequest: 0,
  enableAutoPipelining: true,
});
// ioredis connects again by itself.
redis.on('error', (error) => console.error(error.message));

export const storage: PlantStorage = {
  async create({ id, name, tag }) {
    const answer = await redis.set(`plant:${id}`, JSON.stringify({ name, tag }), 'NX');
    return answer === 'OK' ? 'created' : 'taken';
  },
  async find(id) {
    const text = await redis.get(`plant:${id}`);
    return text === null ? undefined : { id, ...JSON.parse(text) };
  },
};

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
