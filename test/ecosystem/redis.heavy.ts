import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { itKeepsThePromises, runExamplesHere, type StorageExample } from '../examples/recipe.js';
import { context } from '../storages/context.js';
import { Doorway } from '../support/doorway.js';
import { type Any, importExample, load } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { type Program, startProgram } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';

const { Redis } = await load('ioredis');
const isThere = spawnSync('redis-server', ['--version']).status === 0;
const obstacle = isThere ? undefined : 'there is no redis-server (apt-get install redis-server)';

const folder = newFolder();
const socket = join(folder, 'redis.sock');

/** Starts a Redis, again after it was killed, that writes each command to disk before it replies. */
async function startRedis(): Promise<Program> {
  const settings = ['port=0', `unixsocket=${socket}`, `dir=${folder}`, 'save=', 'appendonly=yes'];
  const flags = [...settings, 'appendfsync=always'].flatMap((setting) => `--${setting}`.split('='));
  const program = startProgram(['redis-server', ...flags]);
  await program.printed(/ready to accept connections/);
  return program;
}

describeUnless(obstacle, 'redis', () => {
  let database: Program;
  let doorway: Doorway;
  let example: StorageExample;
  let behind: Any;

  runExamplesHere();
  beforeAll(async () => {
    database = await startRedis();
    behind = new Redis(socket);
    behind.on('error', () => {});
    doorway = await Doorway.before({ path: socket });
    process.env.REDIS_URL = `redis://127.0.0.1:${doorway.port}`;
    example = await importExample('redis');
  });
  afterAll(async () => {
    behind?.disconnect();
    doorway?.close();
    database?.child.kill('SIGKILL');
  });

  const peek = async (id: bigint) => {
    const text = await behind.get(`plant:${id}`);
    return text === null ? undefined : { id, ...JSON.parse(text) };
  };

  itKeepsThePromises(
    () => example,
    () => behind.flushall(),
    { peek, doorway: () => doorway },
  );

  it('a create throws while Redis has no memory left, and stores nothing', async () => {
    await behind.flushall();
    await behind.config('SET', 'maxmemory', '1');
    await expect(example.storage.create({ id: 1n, name: 'Rosa' }, context)).rejects.toThrow('OOM');
    await behind.config('SET', 'maxmemory', '0');
    expect(await peek(1n)).toBeUndefined();
    expect(await example.storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
  });

  it('Redis keeps the acknowledged plants through a crash if appendfsync is "always"', async () => {
    await behind.flushall();
    expect(await example.storage.create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    const reconnected = once(behind, 'ready');
    database.child.kill('SIGKILL');
    await database.exit;
    database = await startRedis();
    await reconnected;
    expect(await peek(1n)).toEqual({ id: 1n, name: 'Rosa' });
  });
});
