/**
 * The way from the operation by hand to `toNode`, step by step: each server does what the one before it does, and one thing more
 * of plant-store's.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantResponse } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { readNodeBody } from '../../../adapters/hosts/_node/body.js';
import { Exchange } from '../../../adapters/hosts/_node/exchange.js';
import { NodePlantRequest } from '../../../adapters/hosts/_node/request.js';
import { Refusal } from '../../../src/for-hosts.js';
import { parsePlant } from '../../../src/plant/json.js';
import { type NewPlant, toJson } from '../../../src/plant/plant.js';
import { decodeBody } from '../../../src/request/body.js';
import { bearerToken, checkBodyHeaders } from '../../../src/request/headers.js';
import { type Answer, refuseHead } from './baseline.js';
import type { Contenders } from './child.js';
import { byHand } from './hosts.js';
import { token } from './load.js';

const limit = 2 ** 20;
const plants = new Map<bigint, NewPlant>();
const headers = { 'content-type': 'application/json' };

function create(content: Uint8Array): Answer {
  try {
    const plant = parsePlant(decodeBody(content, limit));
    if (plants.has(plant.id)) return { status: 400, body: '' };
    plants.set(plant.id, plant);
    return { status: 200, body: toJson(plant) };
  } catch (refusal) {
    return (refusal as Refusal).toResponse();
  }
}

function readByHand(request: IncomingMessage, respond: (content: Uint8Array) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => respond(Buffer.concat(chunks)));
}

function writeHead(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function setHeaders(response: ServerResponse, { status, body }: Answer): void {
  for (const name of Object.keys(headers)) response.setHeader(name, headers[name as keyof typeof headers]);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status);
  response.end(body);
}

const accept = acceptTokens(token);

/** What is wrong with the headers, by the rules. */
function refusalOf(all: NodePlantRequest['headers']): Answer | undefined {
  try {
    if (!accept(bearerToken(all), undefined as never)) return new Refusal('token_invalid').toResponse();
    checkBodyHeaders(all, limit);
    return undefined;
  } catch (refusal) {
    return (refusal as Refusal).toResponse();
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

const exactPlant: Listener = (request, response) => {
  const refusal = refuseHead(request.method, request.url, request.headers);
  if (refusal) writeHead(response, refusal);
  else readByHand(request, (content) => writeHead(response, create(content)));
};

const ownHeaders: Listener = (request, response) => {
  const refusal = refuseHead(request.method, request.url, request.headers);
  if (refusal) setHeaders(response, refusal);
  else readByHand(request, (content) => setHeaders(response, create(content)));
};

const rules: Listener = (request, response) => {
  const refusal = refusalOf(request.headers);
  if (refusal) setHeaders(response, refusal);
  else readByHand(request, (content) => setHeaders(response, create(content)));
};

const reader: Listener = async (request, response) => {
  const exchange = new Exchange(request, response);
  const refusal = await refusalOf(request.headers);
  if (refusal) return setHeaders(response, refusal);
  setHeaders(response, create((await readNodeBody(exchange, limit)) as Uint8Array));
};

const hostRequest: Listener = async (request, response) => {
  const plantRequest = new NodePlantRequest(new Exchange(request, response), request.url!);
  const refusal = await refusalOf(plantRequest.headers);
  if (refusal) return setHeaders(response, refusal);
  setHeaders(response, create((await plantRequest.body(limit)) as Uint8Array));
};

const handled =
  (handle: PlantHandler): Listener =>
  async (request, response) => {
    const plantRequest = new NodePlantRequest(new Exchange(request, response), request.url!);
    setHeaders(response, await (handle(plantRequest) as Promise<PlantResponse>));
  };

const ours = (timeoutMs?: number) => createPlantStore(memoryStorage(), accept, { timeoutMs });

/** In their order. */
export const steps: Readonly<Record<string, () => Listener>> = {
  'by hand': () => byHand,
  'the exact plant': () => exactPlant,
  'setHeader, which loggers see': () => ownHeaders,
  'five headers by the rules': () => rules,
  'the reader of every body, and an await': () => reader,
  'the request of every host': () => hostRequest,
  'createPlantStore without a time limit': () => handled(ours(0)),
  'its time limit': () => handled(ours()),
  'toNode: mounts, wrappers, uploads': () => toNode(ours()) as Listener,
};

export const contenders: Contenders = Object.fromEntries(
  Object.entries(steps).map(([name, listener]) => [`step: ${name}`, () => createServer(listener())]),
);
