// The MongoDB recipe: the real driver, and a stand-in for the server.
import { beforeAll, describe } from 'vitest';
import { itKeepsThePromises, runExamplesHere, type StorageExample } from '../examples/recipe.js';
import { Doorway } from '../support/doorway.js';
import { importExample } from '../support/installed.js';
import { listen } from '../support/sockets.js';
import { type MongoStandIn, mongoStandIn } from './mongodb-standin.js';

runExamplesHere();

describe('mongodb', () => {
  let example: StorageExample;
  let standIn: MongoStandIn;
  let doorway: Doorway;
  beforeAll(async () => {
    standIn = await mongoStandIn();
    const database = await listen(standIn.server);
    doorway = await Doorway.before({ port: database.port });
    // On one connection, because the response that is lost could be one to the hello of another.
    const options = 'directConnection=true&serverSelectionTimeoutMS=2000&maxPoolSize=1';
    process.env.MONGODB_URL = `mongodb://127.0.0.1:${doorway.port}/?${options}`;
    example = await importExample('mongodb');
    return async () => {
      doorway.close();
      await database.close();
    };
  });
  const peek = async (id: bigint) => {
    const found = standIn.documents.get(String(id));
    return found && { id, name: found.name, tag: found.tag };
  };
  const empty = async () => standIn.documents.clear();
  itKeepsThePromises(() => example, empty, { peek, doorway: () => doorway });
});
