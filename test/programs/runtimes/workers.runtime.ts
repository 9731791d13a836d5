// A storage at module level is shared by requests, and on Workers the code of a request ends with it: each create has a
// queue of its own there.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { schema } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, urlOf } from '../../support/program.js';
import { listen, type Running } from '../../support/sockets.js';
import type { Sent } from './batches-worker.js';
import { openDatabase } from './fetch-database.js';
import { bundle, startOn, stop } from './runtimes.js';

/** What `groupCommit` stored, and every context in which a call was made. */
const stored: string[] = [];
const contexts: Sent[] = [];
/** What becomes of the calls of an id: held without an answer, or rolled back. */
const faults = new Map<string, 'held' | 'rolled back'>();
/** Called for each call that is held or rolled back. */
let onFault = () => {};
const callsServer = createServer(async (request, response) => {
  const sent = (await json(request)) as Sent;
  contexts.push(sent);
  const fault = sent.ids.map((id) => faults.get(id)).find(Boolean);
  if (!fault) stored.push(...sent.ids);
  else onFault();
  if (fault !== 'held') response.writeHead(fault ? 503 : 200).end();
});

let database: Awaited<ReturnType<typeof openDatabase>>;
let calls: Running;

beforeAll(async () => {
  database = await openDatabase(schema);
  calls = await listen(callsServer);
});
afterAll(async () => {
  await calls.close();
  await database.close();
});

let nextId = 1;

describe.each([
  ['without nodejs_compat', {}],
  ['with nodejs_compat', { compatibilityFlags: ['nodejs_compat'] }],
  [
    'of a later date, with nodejs_compat',
    { compatibilityFlags: ['nodejs_compat'], compatibilityDate: '2025-10-01' },
  ],
])('a Worker %s', (_, options) => {
  let program: Program;
  let url: string;

  beforeAll(async () => {
    const bindings = { DATABASE: database.url, CALLS: calls.url };
    const worker = await bundle('test/programs/runtimes/batches-worker.ts');
    const start = JSON.stringify({ bindings, ...options });
    program = await startOn('node22', 'test/programs/runtimes/miniflare.ts', worker, start);
    url = await urlOf(program);
    // The Worker before this one may have retried a create after its last test.
    contexts.length = 0;
  });
  afterAll(() => stop(program));

  async function create(storage: string, id = nextId++, signal?: AbortSignal): Promise<string> {
    const response = await fetch(`${url}/${storage}/plants?id=${id}`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: JSON.stringify({ id, name: 'Rosa canina' }),
      ...(signal && { signal }),
    });
    return `${response.status}${response.ok ? '' : ` ${await response.text()}`}`;
  }
  const many = (storage: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => create(storage)));

  it.each(['groupCommit', 'postgresStorage'])(
    'returns 200 for each of 8, 32 and 256 concurrent creates by %s, again and again, and for lone ones between',
    async (storage) => {
      for (let round = 0; round < 3; round++) {
        for (const count of [8, 32, 256]) {
          expect(await many(storage, count)).toEqual(Array(count).fill('200'));
          expect(await create(storage)).toBe('200');
        }
      }
    },
  );

  /** Returns when the client has disconnected. */
  async function disconnect(id: number, isCalled: Promise<void>): Promise<void> {
    const client = new AbortController();
    const creating = create('groupCommit', id, client.signal);
    await isCalled;
    client.abort();
    await expect(creating).rejects.toThrow('aborted');
  }
  /** Returns when plant-store has responded before the storage has. */
  async function timeOut(id: number, isCalled: Promise<void>): Promise<void> {
    const creating = create('hasty', id);
    await isCalled;
    expect(await creating).toMatch('"error":50302');
  }

  describe.each([
    ['whose client disconnects', disconnect],
    ['that times out', timeOut],
  ])('after a request %s', (_end, end) => {
    it.each([
      ['while its call is in flight', 'held'],
      ['before it is retried', 'rolled back'],
    ] as const)('%s, stores the plants of all others', async (_phase, fault) => {
      const id = nextId++;
      faults.set(`${id}`, fault);
      const isCalled = new Promise<void>((resolve) => {
        onFault = resolve;
      });
      const beside = isCalled.then(() => many('groupCommit', 8));
      await end(id, isCalled);
      expect(await beside).toEqual(Array(8).fill('200'));
      expect(await create('groupCommit')).toBe('200');
      expect(await many('groupCommit', 32)).toEqual(Array(32).fill('200'));
    });
  });

  it('stores no plant twice, and sends each batch in the AsyncLocalStorage of a create that is in it', () => {
    expect(new Set(stored).size).toBe(stored.length);
    expect(stored.length).toBeGreaterThan(1000);
    const hasContexts = 'compatibilityFlags' in options;
    for (const { ids, context } of contexts.splice(0)) {
      if (hasContexts) expect(ids).toContain(context);
      else expect(context).toBeUndefined();
    }
  });
});
