// No target, header or body makes the work of a host grow faster than its length, before or after the token.
import { createPlantStore, type PlantHandler } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../support/client.js';
import { named } from '../support/titled.js';
import { hosts, oneOfEachAdapter } from './hosts.js';

/** What a backtracking expression, or a loop in a loop, would stumble over. */
const units = [
  'a',
  '/',
  '//',
  '-',
  '.',
  '%',
  '%2f',
  ';',
  '\\',
  ':',
  '=',
  ' ',
  ',',
  'a/',
  '/plants',
  'http://',
  '[::',
  '\t',
];
const bodies = ['[', '{"a":', '"', '\\u0061', '0', ' ', '{"id":1,', '\ufffd', '"id":1,"name":"'];

const fill = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

type Send = (
  input: Partial<
    Record<'url' | 'authorization' | 'type' | 'encoding' | 'transfer' | 'length' | 'body', string>
  >,
) => Promise<unknown>;

/** The inputs, each made of one unit, by their places. */
const places: Record<
  string,
  readonly [units: readonly string[], make: (text: string) => Parameters<Send>[0]]
> = {
  'the target': [units, (text) => ({ url: text })],
  'a target that begins like ours': [units, (text) => ({ url: `/plants${text}` })],
  'a target that ends like ours': [units, (text) => ({ url: `/${text}/plants` })],
  'its query': [units, (text) => ({ url: `/plants?${text}` })],
  'a token': [units, (authorization) => ({ authorization: `Bearer ${authorization}` })],
  'an Authorization': [units, (authorization) => ({ authorization })],
  'a Content-Type': [units, (type) => ({ type: `application/json${type}` })],
  'a Content-Encoding': [units, (encoding) => ({ encoding })],
  'a Transfer-Encoding': [units, (transfer) => ({ transfer })],
  'a Content-Length': [units, (length) => ({ length })],
  'a body': [bodies, (body) => ({ body })],
  'a body that begins like a plant': [bodies, (text) => ({ body: `{"id":1,"name":"Rosa","x":${text}` })],
  'an id': [['0', '1', '10'], (digits) => ({ body: `{"id":1${digits}e-9,"name":"Rosa"}` })],
  'a name': [units, (name) => ({ body: JSON.stringify({ id: 1, name }) })],
};

/** The time of the processor that a call takes, in milliseconds: a busy machine makes it wait, but not work. */
async function workOf(call: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Ten times the input takes ten times as long, and no more than thirty times; a few milliseconds are nothing. What grows with its square
 * takes a hundred times as long in each of the attempts, and what else the process does beside it not in all of them. What
 * `JSON.parse` itself takes is not plant-store's: of a million brackets, a hundred times that of a tenth, on some machines.
 */
async function expectLinear(
  send: Send,
  make: (text: string) => Parameters<Send>[0],
  unit: string,
  length: number,
) {
  const [small, large] = [make(fill(unit, length / 10)), make(fill(unit, length))];
  await send(small);
  let [work, enough] = [Number.NaN, 0];
  for (let attempt = 0; attempt < 10 && !(work < enough); attempt++) {
    enough =
      10 + 30 * (await workOf(() => send(small))) + 2 * (await workOf(() => parsed(fill(unit, length))));
    work = await workOf(() => send(large));
  }
  expect(work, `${JSON.stringify(unit)} to ${length} characters`).toBeLessThan(enough);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const handles: Record<string, (handle: PlantHandler) => Send> = {
  'the handler': (handle) => (input) => {
    const { url = '/plants', body = '{"id":1,"name":"Rosa"}' } = input;
    return handle({ method: 'POST', url, headers: headersOf(input), body });
  },
  'a middleware below a mount': (handle) => {
    const plants = toNode(handle);
    return ({ url = '/plants', ...input }) =>
      new Promise((resolve) => {
        const { body = '{"id":1,"name":"Rosa"}' } = input;
        const request = {
          method: 'POST',
          url,
          originalUrl: `/api${url}`,
          baseUrl: '/api',
          headers: headersOf(input),
          body,
        };
        const response = { writeHead() {}, setHeader() {}, getHeader() {}, on() {}, end: resolve };
        plants(request as never, response as never, resolve);
      });
  },
};

function headersOf({
  authorization = 'Bearer good',
  type = 'application/json',
  encoding,
  transfer,
  length,
}: Parameters<Send>[0]) {
  return {
    authorization,
    'content-type': type,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    ...(transfer !== undefined && { 'transfer-encoding': transfer }),
    ...(length !== undefined && { 'content-length': length }),
  };
}

const store = (basePath = '') =>
  createPlantStore(memoryStorage(), () => true, { basePath, bodyLimit: 4_000_000, onError() {} });

describe.each(Object.entries(handles))('%s', (_, open) => {
  test.each(Object.entries(places))(
    'works in the time of the length of %s, to 1 MB',
    async (_place, [units, make]) => {
      const send = open(store());
      for (const unit of units)
        for (const length of [10_000, 100_000, 1_000_000]) await expectLinear(send, make, unit, length);
    },
  );
});

/** What a socket carries; a target is bounded by the host, to 16 kB with all headers. */
const carried = new Set([
  'a target that ends like ours',
  'its query',
  'a token',
  'a Content-Type',
  'a body',
  'a name',
]);
const onWire = Object.entries(places).filter(([place]) => carried.has(place));

/** Each adapter, and each way to mount it that looks at the path in a way of its own. */
const looked = /^(Express [45], (under a path|as a route)|Koa [23], (under koa-mount|in a @koa\/router))$/;
const onSockets = [...oneOfEachAdapter, ...hosts.filter(({ name }) => looked.test(name))];

describe.each(named(onSockets))('on %s', (_, { start, basePath }) => {
  test.each(onWire)('a request takes the time of the length of %s', async (place, [units, make]) => {
    const running = await start(store(basePath));
    onTestFinished(running.close);
    const client = clientOf(running.url);
    onTestFinished(() => client.close());
    const send: Send = async ({ url = '/plants', body = '{"id":1,"name":"Rosa"}', ...input }) => {
      const bytes = new TextEncoder().encode(body);
      await client
        .send({ method: 'POST', path: url, headers: headersOf(input), body: bytes })
        .catch(() => {});
    };
    const isBody = place === 'a body' || place === 'a name';
    // Of what no client sends in a target or a header, Node's own throws.
    const sendable = units.filter((unit) => isBody || !/[\t ]/.test(unit));
    for (const unit of sendable) await expectLinear(send, make, unit, isBody ? 300_000 : 10_000);
  });
});
