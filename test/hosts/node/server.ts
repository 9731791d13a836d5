/** `toNode` on a free port with a store of its own, for tests that send single bytes. */
import { createServer } from 'node:http';
import type { Server } from 'node:net';
import {
  createPlantStore,
  type NewPlant,
  type PlantHandler,
  type PlantStorage,
  type PlantStoreOptions,
  type VerifyToken,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { onTestFinished } from 'vitest';
import { listen, observed, Wire, type WireAnswer } from '../../support/sockets.js';

export const token = 'Authorization: Bearer good';
export const json = 'Content-Type: application/json';
export const rose = '{"id":1,"name":"Rosa canina"}';
export const roseCreated = { status: 200, text: '{"name":"Rosa canina"}' };

export const fields = {
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': '/plants',
  authorization: 'Bearer good',
  'content-type': 'application/json',
};

/** Starts a server for one test, and records its calls, its errors and its plants. */
export async function start({
  serve = (listener) => createServer(listener),
  options = {},
  plants = new Map<bigint, NewPlant>(),
  storage = memoryStorage(plants),
  verifyToken = (given) => given === 'good',
  wrap = (handle) => handle,
}: {
  serve?: (listener: ReturnType<typeof toNode>) => Server;
  options?: PlantStoreOptions;
  plants?: Map<bigint, NewPlant>;
  storage?: PlantStorage;
  verifyToken?: VerifyToken<boolean>;
  wrap?: ((handle: PlantHandler) => PlantHandler) | undefined;
} = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error);
  };
  const calls = observed(wrap(createPlantStore(storage, verifyToken, { onError, ...options })));
  const { port, close } = await listen(serve(toNode(calls.handle)));
  onTestFinished(close);
  const open = async () => {
    const wire = await Wire.open(port);
    onTestFinished(() => wire.destroy());
    return wire;
  };
  return { port, plants, errors, calls, open };
}

export const errorOf = ({ text }: Pick<WireAnswer, 'text'>) => JSON.parse(text).error;
