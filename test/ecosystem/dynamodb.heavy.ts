// The DynamoDB recipe on dynalite.
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleUrl, itKeepsThePromises, runExamplesHere, type StorageExample } from '../examples/recipe.js';
import { context } from '../storages/context.js';
import { Doorway } from '../support/doorway.js';
import { importExample, load } from '../support/installed.js';
import { createPlant } from '../support/plants.js';
import { listen } from '../support/sockets.js';

// Otherwise the AWS SDK warns of Node 20.
runExamplesHere({ AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' });

const { default: dynalite } = await load('dynalite');
const sdk = await load('@aws-sdk/client-dynamodb');

const throttled = JSON.stringify({
  __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
});
const head = ['HTTP/1.1 400 Bad Request', `Content-Length: ${throttled.length}`, 'Connection: close', '', ''];

describe('dynamodb', () => {
  let example: StorageExample;
  // biome-ignore lint/suspicious/noExplicitAny: its package is not there when types are checked
  let behind: any;
  let doorway: Doorway;
  let isThrottled = false;

  beforeAll(async () => {
    const database = await listen(dynalite({ createTableMs: 0, deleteTableMs: 0 }));
    doorway = await Doorway.before({ port: database.port });
    doorway.onAnswer = (answer, client) => {
      if (isThrottled) client.end(head.join('\r\n') + throttled);
      else client.write(answer);
      isThrottled = false;
    };
    const endpoint = `http://127.0.0.1:${doorway.port}`;
    const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'eu-central-1' };
    Object.assign(process.env, keys, { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
    behind = new sdk.DynamoDBClient({ endpoint: `http://127.0.0.1:${database.port}` });
    example = await importExample('dynamodb');
    return async () => {
      doorway.close();
      await database.close();
    };
  });

  const TableName = 'plants';
  const waiting = () => ({ client: behind, minDelay: 0.01, maxDelay: 0.01, maxWaitTime: 10 });
  const empty = async () => {
    await behind.send(new sdk.DeleteTableCommand({ TableName })).catch(() => {});
    await sdk.waitUntilTableNotExists(waiting(), { TableName });
    const table = new sdk.CreateTableCommand({
      TableName,
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    await behind.send(table);
    await sdk.waitUntilTableExists(waiting(), { TableName });
  };
  const peek = async (id: bigint) => {
    const Key = { id: { N: String(id) } };
    const { Item } = await behind.send(new sdk.GetItemCommand({ TableName, Key, ConsistentRead: true }));
    return Item && { id: BigInt(Item.id!.N!), name: Item.name!.S!, tag: Item.tag?.S };
  };

  itKeepsThePromises(() => example, empty, { peek, doorway: () => doorway });

  it('a plant that is too large for DynamoDB is rejected', async () => {
    await empty();
    const url = await exampleUrl(example);
    const largest = `{"id":1,"name":"${'x'.repeat(400_000 - 18)}"}`;
    expect(await createPlant(url, largest)).toMatchObject({ status: 200 });
    expect(await createPlant(url, `${largest} `)).toMatchObject({ status: 400, body: { error: 40006 } });
  });

  it('is busy when DynamoDB throttles', async () => {
    isThrottled = true;
    await expect(example.storage.create({ id: 2n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'StorageBusy',
    });
  });
});
