// The DynamoDB recipe on dynalite.
import { createServer, request as httpRequest } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleUrl, itKeepsThePromises, runExamplesHere, type StorageExample } from '../examples/recipe.js';
import { context } from '../storages/context.js';
import { importExample, load } from '../support/installed.js';
import { createPlant } from '../support/plants.js';
import { listen, type Running } from '../support/sockets.js';

// Otherwise the AWS SDK warns of Node 20.
runExamplesHere({ AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' });

const { default: dynalite } = await load('dynalite');
const { CreateTableCommand, DynamoDBClient, GetItemCommand, waitUntilTableExists } =
  await load('@aws-sdk/client-dynamodb');

describe('dynamodb', () => {
  let example: StorageExample;
  // biome-ignore lint/suspicious/noExplicitAny: its package is not there when types are checked
  let behind: any;
  let database: Running | undefined;
  let next: 'answer' | 'cut the answer' | 'throttle' = 'answer';

  beforeAll(async () => {
    const doorway = await listen(
      createServer((request, response) => {
        const fault = next;
        next = 'answer';
        if (fault === 'throttle') {
          const type = 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException';
          response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
          response.end(JSON.stringify({ __type: type, message: 'too fast' }));
          return;
        }
        const { method, url: path, headers } = request;
        const onwards = httpRequest({ port: database!.port, method, path, headers }, (answer) => {
          if (fault === 'cut the answer') response.destroy();
          else answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
        });
        request.pipe(onwards);
      }),
    );
    const endpoint = `http://127.0.0.1:${doorway.port}`;
    const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'eu-central-1' };
    Object.assign(process.env, keys, { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
    behind = new DynamoDBClient({ endpoint });
    example = await importExample('dynamodb');
    return async () => {
      await database?.close();
      await doorway.close();
    };
  });

  /** A database of its own for each case: a table needs half a second to go. */
  const empty = async () => {
    await database?.close();
    database = await listen(dynalite({ createTableMs: 0 }));
    const table = new CreateTableCommand({
      TableName: 'plants',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    await behind.send(table);
    await waitUntilTableExists(
      { client: behind, minDelay: 1, maxDelay: 1, maxWaitTime: 10 },
      { TableName: 'plants' },
    );
  };
  const peek = async (id: bigint) => {
    const Key = { id: { N: String(id) } };
    const { Item } = await behind.send(
      new GetItemCommand({ TableName: 'plants', Key, ConsistentRead: true }),
    );
    return Item && { id: BigInt(Item.id!.N!), name: Item.name!.S!, tag: Item.tag?.S };
  };

  itKeepsThePromises(() => example, empty, { peek });

  it('a create throws if the response was lost after the plant was stored: it never returns taken', async () => {
    await empty();
    next = 'cut the answer';
    await expect(example.storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow();
    expect(await peek(1n)).toEqual({ id: 1n, name: 'Rosa', tag: undefined });
  });

  it('a plant that is too large for DynamoDB is rejected', async () => {
    await empty();
    const url = await exampleUrl(example);
    const largest = `{"id":1,"name":"${'x'.repeat(400_000 - 18)}"}`;
    expect(await createPlant(url, largest)).toMatchObject({ status: 200 });
    expect(await createPlant(url, `${largest} `)).toMatchObject({ status: 400, body: { error: 40006 } });
  });

  it('is busy when DynamoDB throttles', async () => {
    next = 'throttle';
    await expect(example.storage.create({ id: 2n, name: 'Rosa' }, context)).rejects.toMatchObject({
      name: 'StorageBusy',
    });
  });
});
