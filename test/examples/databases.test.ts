// The storages of examples/, each in this process, on a real database.
import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { NewPlant, PlantStorage } from 'plant-store';
import { storageCases } from 'plant-store/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PostgresServer } from '../support/postgres.js';
import { noRedis, RedisServer } from '../support/redis.js';
import { listen } from '../support/sockets.js';

interface Example {
  readonly storage: PlantStorage;
  readonly server: Server;
  /** The app's own reading, by the library that the example is about. */
  readonly find?: (id: bigint) => Promise<NewPlant | undefined>;
}

const cleanUps: (() => unknown)[] = [];
const context = () => ({
  caller: true,
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
});

beforeAll(() => {
  process.env.PORT = '0';
  // The examples print where they listen, and the connections that they lose.
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  // The AWS SDK warns of Node 20, and of the 1 000 requests at once.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
});
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Creates over a real socket: a plant, its taken id, and a wrong token. */
async function expectServed({ server }: Example, mount = ''): Promise<void> {
  if (!server.listening) await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${mount}/plants`;
  const create = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}';
    const response = await fetch(url, { method: 'POST', headers, body });
    return [response.status, await response.json()];
  };
  expect(await create('wrong')).toMatchObject([401, { error: 40102 }]);
  expect(await create('secret')).toEqual([200, { name: 'Rosa canina', tag: 'shrub' }]);
  expect(await create('secret')).toMatchObject([400, { error: 40003 }]);
}

/** A port that leads to a socket of the file system. */
function openDoorway(
  path: string,
  onAnswer = (answer: Buffer, client: Socket): void => void client.write(answer),
): ReturnType<typeof listen> {
  return listen(
    createTcpServer((client) => {
      const inside = connect(path);
      client.pipe(inside);
      inside.on('data', (answer) => onAnswer(answer, client));
      for (const socket of [client, inside]) socket.on('error', () => {});
      client.on('close', () => inside.destroy());
      inside.on('close', () => client.destroy());
    }),
  );
}

/** Runs all cases against the example that `load` gives, once it is there. */
function itKeepsThePromises(
  load: () => Example,
  empty: () => Promise<unknown>,
  peek?: Example['find'],
): void {
  const open = async () => {
    const { storage, find } = load();
    await empty();
    return { storage, caller: undefined, peek: (peek ?? find)! };
  };
  for (const { id, name, run } of storageCases(open)) it(`${id}: ${name}`, run);
}

describe('PostgreSQL', () => {
  let pool: pg.Pool;

  beforeAll(async () => {
    const database = await PostgresServer.start();
    const doorway = await openDoorway(`${database.folder}/.s.PGSQL.5432`);
    process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:${doorway.port}/postgres`;
    pool = new pg.Pool({ connectionString: database.url });
    pool.on('error', () => {});
    cleanUps.push(() => database.close(), doorway.close);
  });
  const empty = () => pool.query('TRUNCATE plants');

  const examples: [name: string, load: () => Promise<Example>, mount?: string][] = [
    ['drizzle', () => import('../../examples/drizzle.js'), '/api'],
    ['kysely', () => import('../../examples/kysely.js')],
    ['knex', () => import('../../examples/knex.js')],
    ['postgres-js', () => import('../../examples/postgres-js.js')],
  ];

  describe.each(examples)('%s', (_name, load, mount) => {
    let example: Example;
    beforeAll(async () => {
      example = await load();
    });

    it('creates plants', async () => {
      await empty();
      await expectServed(example, mount);
    });
    itKeepsThePromises(() => example, empty);
  });

  it("drizzle: the app's own GET finds the plant beside the mount, its id exact", async () => {
    const { server, storage } = await import('../../examples/drizzle.js');
    await empty();
    await storage.create({ id: 9007199254740993n, name: 'Ilex' }, context());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/plants`;
    const found = await fetch(`${url}/9007199254740993`);
    expect(await found.json()).toEqual({ id: '9007199254740993', name: 'Ilex' });
    expect((await fetch(`${url}/9007199254740992`)).status).toBe(404);
  });

  describe('outbox', () => {
    let example: typeof import('../../examples/outbox.js');
    beforeAll(async () => {
      example = await import('../../examples/outbox.js');
    });
    const emptyBoth = () => pool.query('TRUNCATE plants, outbox');
    const peek = async (id: bigint) => {
      const found = await pool.query('SELECT name, tag FROM plants WHERE id = $1', [String(id)]);
      return found.rows[0] && { id, name: found.rows[0].name, tag: found.rows[0].tag ?? undefined };
    };

    it('creates plants', async () => {
      await emptyBoth();
      await expectServed(example);
    });
    itKeepsThePromises(() => example, emptyBoth, peek);

    it('keeps one event for each plant that was created, and none for a taken id', async () => {
      await emptyBoth();
      const ids = [1n, 2n, 2n, 2n ** 53n + 1n];
      await Promise.all(ids.map((id) => example.storage.create({ id, name: `plant ${id}` }, context())));
      await example.storage.create({ id: 1n, name: 'another' }, context());
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

    it('keeps the event of which publishing failed, and those after it', async () => {
      await emptyBoth();
      for (const id of [1n, 2n, 3n]) await example.storage.create({ id, name: 'Rosa' }, context());
      const published: unknown[] = [];
      const publish = async (event: unknown) => {
        if (published.push((event as { id: string }).id) === 2) throw new Error('the broker is away');
      };
      await expect(example.relay(publish)).rejects.toThrow('the broker is away');
      await example.relay(publish);
      expect(published).toEqual(['1', '2', '2', '3']);
    });

    it('keeps neither if the event cannot be stored', async () => {
      await emptyBoth();
      await pool.query('ALTER TABLE outbox ADD CONSTRAINT full_up CHECK (false) NOT VALID');
      try {
        await expect(example.storage.create({ id: 1n, name: 'Rosa' }, context())).rejects.toThrow('full_up');
        expect(await peek(1n)).toBeUndefined();
      } finally {
        await pool.query('ALTER TABLE outbox DROP CONSTRAINT full_up');
      }
    });
  });
});

// If CI=true, a missing server is a failure.
const skipRedis = noRedis !== undefined && process.env.CI !== 'true';
if (skipRedis) process.stdout.write(`redis.ts is not tested: ${noRedis}\n`);

describe.skipIf(skipRedis)('redis', () => {
  let database: RedisServer;
  let example: Example;
  let behind: Redis;
  /** Cuts the connection after the next command has reached Redis, before the answer comes back. */
  let cutNextAnswer = false;

  beforeAll(async () => {
    if (noRedis) throw new Error(noRedis);
    database = await RedisServer.start();
    behind = new Redis(database.path);
    behind.on('error', () => {});
    const doorway = await openDoorway(database.path, (answer, client) => {
      if (cutNextAnswer) client.destroy();
      else client.write(answer);
      cutNextAnswer = false;
    });
    process.env.REDIS_URL = `redis://127.0.0.1:${doorway.port}`;
    example = await import('../../examples/redis.js');
    cleanUps.push(
      doorway.close,
      () => behind.disconnect(),
      () => database.close(),
    );
  });

  const peek = async (id: bigint) => {
    const text = await behind.get(`plant:${id}`);
    return text === null ? undefined : { id, ...JSON.parse(text) };
  };

  it('creates plants', async () => {
    await behind.flushall();
    await expectServed(example);
  });
  itKeepsThePromises(
    () => example,
    () => behind.flushall(),
    peek,
  );

  it('throws if the answer was lost after the plant was stored: it never says taken', async () => {
    await behind.flushall();
    cutNextAnswer = true;
    await expect(example.storage.create({ id: 1n, name: 'Rosa' }, context())).rejects.toThrow();
    expect(await peek(1n)).toEqual({ id: 1n, name: 'Rosa' });
  });

  it('keeps what was answered through a crash, as appendfsync is "always"', async () => {
    const reconnected = once(behind, 'ready');
    await database.kill();
    await database.start();
    await reconnected;
    expect(await peek(1n)).toEqual({ id: 1n, name: 'Rosa' });
  });
});

describe('dynamodb', () => {
  let example: Example;
  let behind: DynamoDBClient;
  let database: Awaited<ReturnType<typeof listen>> | undefined;
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
    example = await import('../../examples/dynamodb.js');
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

  it('creates plants', async () => {
    await empty();
    await expectServed(example);
  });
  itKeepsThePromises(() => example, empty, peek);

  it('throws if the answer was lost after the plant was stored: it never says taken', async () => {
    await empty();
    next = 'cut the answer';
    await expect(example.storage.create({ id: 1n, name: 'Rosa' }, context())).rejects.toThrow();
    expect(await peek(1n)).toEqual({ id: 1n, name: 'Rosa', tag: undefined });
  });

  it('is busy when DynamoDB throttles', async () => {
    next = 'throttle';
    await expect(example.storage.create({ id: 2n, name: 'Rosa' }, context())).rejects.toMatchObject({
      name: 'StorageBusy',
    });
  });
});
