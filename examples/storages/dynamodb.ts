// DynamoDB, in a table `plants` with the partition key `id` (N): `node --import tsx examples/storages/dynamodb.ts`.
import { createServer } from 'node:http';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { acceptTokens, createPlantStore, type PlantStorage, StorageBusy } from 'plant-store';
import { toNode } from 'plant-store/node';

// Otherwise the SDK would retry a request whose reply was lost, find its own plant and report `taken`.
const client = new DynamoDBClient({ maxAttempts: 1 });

export const storage: PlantStorage = {
  async create({ id, name, tag }) {
    const put = new PutItemCommand({
      TableName: 'plants',
      // DynamoDB keeps 38 digits of a number, and the SDK sends them as text.
      Item: { id: { N: String(id) }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) },
      ConditionExpression: 'attribute_not_exists(id)',
    });
    try {
      await client.send(put);
      return 'created';
    } catch (error) {
      const { name } = error as Error;
      if (name === 'ConditionalCheckFailedException') return 'taken';
      // Throttled: nothing was stored.
      if (/^(ProvisionedThroughputExceeded|Throttling|RequestLimitExceeded)/.test(name))
        throw new StorageBusy();
      throw error;
    }
  },
  async find(id) {
    const get = new GetItemCommand({
      TableName: 'plants',
      Key: { id: { N: String(id) } },
      ConsistentRead: true,
    });
    const { Item: item } = await client.send(get);
    return item && { id, name: item.name?.S ?? '', tag: item.tag?.S };
  },
};

// DynamoDB rejects an item over 400 KiB.
const handle = createPlantStore(storage, acceptTokens('secret'), { bodyLimit: 400_000 });

export const server = createServer(toNode(handle));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
