/** Endpoints that are not plant-store: a right one, in the style of another language, and what people write by hand. */
import type { RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler } from 'express';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

/** A response of an implementation that is as exact as plant-store, before it is written in a style. */
interface Exact {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly members: Record<string, unknown>;
  readonly error: number | undefined;
}

/** 415 and 413 for what the contract does not name. */
const httpStatus = ({ error, status }: Exact) => ({ 40005: 415, 40006: 413 })[error ?? 0] ?? status;

/** Python's json.dumps and print, and 415 and 413. */
function inPython(exact: Exact) {
  const headers = { 'content-type': 'application/json', 'www-authenticate': 'Bearer' };
  const value = exact.error ? { error: 1, message: 'Invalid plant' } : exact.members;
  return { status: httpStatus(exact), headers, body: `${JSON.stringify(value, null, 1)}\n` };
}

/** A right endpoint in the style of another language. */
export function rightInPython(): RequestListener {
  const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
  const restyled: PlantHandler = async (request) => {
    const { status, headers, body, error } = await handle(request);
    const styled = inPython({ status, headers, error, members: body ? JSON.parse(body) : {} });
    // No number of plant-store: its adapter must not take the response for its own.
    return { ...styled, ...(!body && { body }) };
  };
  return toNode(restyled);
}

/** An Express app by hand, as most people write it. `fail` is how it writes an error. */
function byHand(fail: (response: ServerResponse, status: number, message: string) => void): express.Express {
  const plants = new Map<number, { name: string; tag?: string }>();
  const app = express();
  app.use(express.json());
  app.post('/plants', (request, response) => {
    if (request.headers.authorization !== 'Bearer secret') return fail(response, 401, 'Unauthorized');
    const { id, name, tag } = request.body ?? {};
    if (!Number.isInteger(id) || typeof name !== 'string') return fail(response, 422, 'Invalid plant');
    if (plants.has(id)) return fail(response, 409, 'Exists');
    plants.set(id, { name, tag });
    response.json({ name, tag });
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) =>
    fail(response, error.status ?? 500, error.message);
  app.use(onError);
  return app;
}

const send = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));

export const expressByHand = () =>
  byHand((response, status, error) => void send(response, status, { error }));
/** As an exception filter of Nest writes it. */
export const nestByHand = () =>
  byHand(
    (response, statusCode, message) =>
      void send(response, statusCode, { statusCode, message, error: 'Error' }),
  );
