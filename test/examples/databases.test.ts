// The databases that an app already has: each program of examples/ in this process, on a real database.
import { createServer, request as httpRequest } from 'node:http';
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import pg from 'pg';
import { schema } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlant } from '../support/plants.js';
import { PostgresServer } from '../support/postgres.js';
import { listen, type Running } from '../support/sockets.js';
import {
  exampleUrl,
  itKeepsThePromises,
  openDoorway,
  runExamplesHere,
  type StorageExample,
  someContext,
} from './recipe.js';

// Otherwise the AWS SDK warns of Node 20.
runExamplesHere({ AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' });

const cleanUps: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('PostgreSQL', () => {
  let pool: pg.Pool;

  beforeAll(async () => {
    const database = await PostgresServer.start();
    const doorway = await openDoorway(database.socket);
    process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:${doorway.port}/postgres`;
    pool = new pg.Pool({ connectionString: database.url });
    pool.on('error', () => {});
    await pool.query(schema);
    cleanUps.push(() => database.close(), doorway.close);
  });
  const empty = () => pool.query('TRUNCATE plants');

  const examples: [name: string, load: () => Promise<StorageExample>, mount?: string][] = [
    ['drizzle', () => import('../../examples/storages/drizzle.js'), '/api'],
    ['kysely', () => import('../../examples/storages/kysely.js')],
    ['knex', () => import('../../examples/storages/knex.js')],
    ['postgres-js', () => import('../../examples/storages/postgres-js.js')],
  ];

  describe.each(examples)('with %s', (_name, load, mount) => {
    let example: StorageExample;
    beforeAll(async () => {
      example = await load();
    });

    itKeepsThePromises(() => example, empty, { mount: mount ?? '' });
  });

  it('the app of drizzle finds a plant by its own GET, its id exact, and only for a token', async () => {
    const { storage, ...example } = await import('../../examples/storages/drizzle.js');
    await empty();
    await storage.create({ id: 9007199254740993n, name: 'Ilex' }, someContext());
    const url = `${await exampleUrl(example)}/api/plants`;
    const get = async (id: string, authorization = 'Bearer secret') => {
      const response = await fetch(`${url}/${id}`, { headers: { authorization } });
      return [response.status, await response.json()];
    };
    expect(await get('9007199254740993')).toEqual([200, { id: '9007199254740993', name: 'Ilex' }]);
    expect(await get('9007199254740993?verbose=1')).toMatchObject([200, { name: 'Ilex' }]);
    for (const free of ['9007199254740992', '-9223372036854775808', '9223372036854775807'])
      expect(await get(free)).toMatchObject([404, { error: 1404 }]);
    for (const bad of ['rose', '1.5', '1e3', '9223372036854775808', '-9223372036854775809', '1'.repeat(400)])
      expect([bad, ...(await get(bad))]).toEqual([bad, 400, expect.objectContaining({ error: 1400 })]);
    expect(await get('9007199254740993', 'Bearer wrong')).toMatchObject([401, { error: 40102 }]);
    expect(await get('rose', '')).toMatchObject([401, { error: 40101 }]);
  });

  it('minimal-storage creates a plant, and rejects a taken id and an invalid token', async () => {
    const { handle } = await import('../../examples/storages/minimal-storage.js');
    await empty();
    const create = async (name: string, token = 'secret') => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = `{"id":9007199254740993,"name":"${name}"}`;
      return JSON.parse((await handle({ method: 'POST', url: '/plants', headers, body })).body);
    };
    expect(await create('x'.repeat(201))).toEqual({
      error: 40004,
      message: 'name is longer than 200 characters',
    });
    expect(await create('Rosa', 'wrong')).toMatchObject({ error: 40102 });
    expect(await create('Rosa')).toEqual({ name: 'Rosa' });
    expect(await create('Ilex')).toMatchObject({ error: 40003 });
  });

  describe('outbox', () => {
    let example: typeof import('../../examples/storages/outbox.js');
    beforeAll(async () => {
      example = await import('../../examples/storages/outbox.js');
    });
    const emptyBoth = () => pool.query('TRUNCATE plants, outbox');
    const peek = async (id: bigint) => {
      const found = await pool.query('SELECT name, tag FROM plants WHERE id = $1', [String(id)]);
      return found.rows[0] && { id, name: found.rows[0].name, tag: found.rows[0].tag ?? undefined };
    };

    itKeepsThePromises(() => example, emptyBoth, { peek });

    it('the app stores one event for each plant that was created, and none for a taken id', async () => {
      await emptyBoth();
      const ids = [1n, 2n, 2n, 2n ** 53n + 1n];
      await Promise.all(ids.map((id) => example.storage.create({ id, name: `plant ${id}` }, someContext())));
      await example.storage.create({ id: 1n, name: 'another' }, someContext());
      const published: unknown[] = [];
      await example.relay(async (event) => void published.push(event));
      expect(published).toEqual(
        ['1', '2', '9007199254740993'].map((id) => ({
          type: 'plant.created',
          id,
          name: `plant ${id}`,
          tag: null,
        })),
      );
      await example.relay(async (event) => void published.push(event));
      expect(published).toHaveLength(3);
    });

    it('the app keeps the event whose publication failed, and those after it', async () => {
      await emptyBoth();
      for (const id of [1n, 2n, 3n]) await example.storage.create({ id, name: 'Rosa' }, someContext());
      const published: unknown[] = [];
      const publish = async (event: unknown) => {
        if (published.push((event as { id: string }).id) === 2) throw new Error('the broker is away');
      };
      await expect(example.relay(publish)).rejects.toThrow('the broker is away');
      await example.relay(publish);
      expect(published).toEqual(['1', '2', '2', '3']);
    });

    it('the app stores no plant if its event cannot be stored', async () => {
      await emptyBoth();
      await pool.query('ALTER TABLE outbox ADD CONSTRAINT full_up CHECK (false) NOT VALID');
      try {
        await expect(example.storage.create({ id: 1n, name: 'Rosa' }, someContext())).rejects.toThrow(
          'full_up',
        );
        expect(await peek(1n)).toBeUndefined();
      } finally {
        await pool.query('ALTER TABLE outbox DROP CONSTRAINT full_up');
      }
    });
  });
});

describe('dynamodb', () => {
  let example: StorageExample;
  let behind: DynamoDBClient;
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
    example = await import('../../examples/storages/dynamodb.js');
    cleanUps.push(doorway.close, () => database?.close());
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
    await expect(example.storage.create({ id: 1n, name: 'Rosa' }, someContext())).rejects.toThrow();
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
    await expect(example.storage.create({ id: 2n, name: 'Rosa' }, someContext())).rejects.toMatchObject({
      name: 'StorageBusy',
    });
  });
});
