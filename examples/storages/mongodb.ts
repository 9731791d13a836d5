// MongoDB: `MONGODB_URL=mongodb://… node --import tsx examples/storages/mongodb.ts`. Not run against a server: README.md says what was.
import { createServer } from 'node:http';
import { Long, MongoClient } from 'mongodb';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toNode } from 'plant-store/node';

interface StoredPlant {
  /** MongoDB keeps `_id` unique. */
  _id: Long;
  name: string;
  tag?: string;
}

// A plant whose create returned 200 is on most members of the replica set, on their disks.
const client = new MongoClient(process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017', {
  writeConcern: { w: 'majority', journal: true },
  // Otherwise the driver reads an int64 as a number, which rounds.
  promoteLongs: false,
});
const plants = client.db('garden').collection<StoredPlant>('plants');

export const storage: PlantStorage = {
  async create({ id, name, tag }) {
    try {
      await plants.insertOne({ _id: Long.fromBigInt(id), name, ...(tag !== undefined && { tag }) });
      return 'created';
    } catch (error) {
      const { code, keyPattern } = error as { code?: unknown; keyPattern?: { _id?: unknown } };
      // Of `_id` alone: a duplicate in another unique index is no taken id.
      if (code === 11000 && keyPattern?._id) return 'taken';
      throw error;
    }
  },
  async find(id) {
    const plant = await plants.findOne({ _id: Long.fromBigInt(id) });
    return plant ? { id, name: plant.name, tag: plant.tag } : undefined;
  },
};

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
