// A storage at module level shares its batches among requests, and on Workers the code of a request ends with it.
import { schema } from 'plant-store/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, urlOf } from '../../support/program.js';
import { openDatabase } from './fetch-database.js';
import { bundle, startOn, stop } from './runtimes.js';

const counts = [8, 32, 256];
const ends: [string, { down: number; callMs: number }, number][] = [
  ['before it sends', { down: 0, callMs: 5 }, 0],
  ['while its call is in flight', { down: 0, callMs: 2_000 }, 100],
  ['during a pause', { down: 1, callMs: 5 }, 700],
];

let database: Awaited<ReturnType<typeof openDatabase>>;

beforeAll(async () => {
  database = await openDatabase(schema);
});
afterAll(() => database.close());

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
  let nextId = 1;

  beforeAll(async () => {
    const bindings = { DATABASE: database.url };
    const worker = await bundle('test/programs/runtimes/batches-worker.ts');
    const start = JSON.stringify({ bindings, ...options });
    program = await startOn('node22', 'test/programs/runtimes/miniflare.ts', worker, start);
    url = await urlOf(program);
    await database.exec('DELETE FROM plants');
  });
  afterAll(() => stop(program));

  const get = async (path: string) => (await fetch(url + path)).text();
  const told = async () =>
    JSON.parse(await get('/sent')) as { sent: string[]; contexts: { own: number; others: number } };
  async function create(storage: string, id = nextId++): Promise<string> {
    const response = await fetch(`${url}/${storage}/plants?id=${id}`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: JSON.stringify({ id, name: 'Rosa canina' }),
    });
    return `${response.status}${response.ok ? '' : ` ${await response.text()}`}`;
  }
  const many = (storage: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => create(storage)));

  it.each(['groupCommit', 'postgresStorage'])(
    'returns 200 for each of 8, 32 and 256 concurrent creates by %s, again and again, and for lone ones between',
    async (storage) => {
      for (let round = 0; round < 5; round++) {
        for (const count of counts) {
          expect(await many(storage, count)).toEqual(Array(count).fill('200'));
          expect(await create(storage)).toBe('200');
        }
      }
    },
  );

  async function leave({ down, callMs }: (typeof ends)[0][1], ms: number): Promise<void> {
    await get(`/set?down=${down}&callMs=${callMs}`);
    await get(`/leave?id=${nextId++}&ms=${ms}`);
    await get('/set?down=0&callMs=5');
  }

  it.each(ends)(
    'settles a create that enters alone after a request that ends %s',
    async (_phase, how, ms) => {
      await leave(how, ms);
      // So that it does not time out with the create that led.
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await create('groupCommit')).toBe('200');
    },
  );

  it.each(ends)('loses at most the create of a request that ends %s', async (_phase, how, ms) => {
    await leave(how, ms);
    // As in a busy app: one create after the other enters, until one has taken over. Not those of the first moment, which
    // would time out with the create that led.
    const entering: Promise<string>[] = [];
    let isOver = false;
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const creating = create('groupCommit');
      entering.push(creating);
      creating.then(() => {
        isOver = true;
      });
    }
    expect(new Set(await Promise.all(entering))).toEqual(new Set(['200']));
    expect(await many('groupCommit', 32)).toEqual(Array(32).fill('200'));
    const { sent } = await told();
    expect(new Set(sent).size).toBe(sent.length);
  });

  it('sends each batch in the AsyncLocalStorage of a create that is in it', async () => {
    const { own, others } = (await told()).contexts;
    // The creates that `leave` makes in addition are of a request whose id is another.
    expect(others).toBeLessThanOrEqual(4);
    expect(own > 0).toBe('compatibilityFlags' in options);
  });
});
