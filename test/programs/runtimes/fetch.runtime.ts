import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Client, clientOf } from '../../support/client.js';
import { bodyLimit, contractCases, faultsOf } from '../../support/contract.js';
import { expectExactPlants } from '../../support/plants.js';
import { type Program, startProgram, urlOf } from '../../support/program.js';
import { named, withIds } from '../../support/titled.js';
import { bundle, bundleTo, startNext, startOn, stop, tool, writeTo } from './runtimes.js';

interface Runtime {
  readonly name: string;
  readonly start: () => Promise<Program>;
  readonly example?: () => Promise<Program>;
  /** The mount and the `/inside` path, if a framework handles other paths and methods itself. */
  readonly within?: { readonly mount: string; readonly inside: string };
  /** Whether the platform reads a body to its end before it calls the function. */
  readonly readsBodies?: boolean;
}

/** Each row is a server on another runtime, and its example: to test a new runtime is to add a row and a file. */
const runtimes: readonly Runtime[] = [
  {
    name: 'Bun.serve',
    start: () => startOn('bun', 'test/programs/runtimes/contract-server.ts'),
    example: () => startOn('bun', 'examples/hosts/bun.ts'),
  },
  { name: 'Elysia on Bun', start: () => startOn('bun', 'test/programs/runtimes/contract-elysia.ts') },
  {
    name: 'Elysia on Bun, by route',
    start: () => startOn('bun', 'test/programs/runtimes/contract-elysia-route.ts'),
    within: { mount: '/api', inside: '/inside' },
  },
  {
    name: 'Deno.serve',
    start: () => startOn('deno', 'test/programs/runtimes/contract-server.ts'),
    example: () => startOn('deno', 'examples/hosts/deno.ts'),
  },
  {
    name: 'Bun.serve of the oldest Bun',
    start: () => startOn('bun1.2', 'test/programs/runtimes/contract-server.ts'),
  },
  {
    name: 'Deno.serve of the oldest Deno',
    start: () => startOn('deno2.1', 'test/programs/runtimes/contract-server.ts'),
  },
  {
    name: 'Workers (workerd)',
    start: () => startWorker('test/programs/runtimes/contract-worker.ts'),
    example: () => startWorker('examples/hosts/worker.ts'),
  },
  {
    name: 'Next',
    start: async () => {
      await bundleTo('app/api/plants/route.js', 'test/programs/runtimes/contract-next.ts');
      return startNext();
    },
    within: { mount: '/api', inside: '/api/plants' },
  },
  {
    name: "Vercel's dev server, POST = toRoute(handle)",
    start: () => startVercel('test/programs/runtimes/contract-next.ts'),
    within: { mount: '/api', inside: '/api/plants' },
    readsBodies: true,
  },
  {
    name: "Vercel's dev server, export default toNode(handle)",
    start: () => startVercel('test/programs/runtimes/contract-vercel.ts'),
    within: { mount: '/api', inside: '/api/plants' },
    readsBodies: true,
  },
];

async function startVercel(file: string): Promise<Program> {
  return startOn('node22', 'test/programs/runtimes/vercel.ts', await bundle(file));
}

async function startWorker(file: string): Promise<Program> {
  // Miniflare 4 does not run on Node 20.
  return startOn('node22', 'test/programs/runtimes/miniflare.ts', await bundle(file));
}

test("an app's own Deno.test finds no timer, channel or port of a request that has ended", async () => {
  const file = await bundle('test/programs/runtimes/leaks-deno.ts');
  const { exit, output } = startProgram([tool('.bin/deno'), 'test', '--allow-all', file]);
  expect([await exit, output()]).toEqual([0, expect.stringContaining('6 passed')]);
});

test('Next serves what its router has matched, by its own basePath and trailingSlash', async () => {
  await bundleTo('slashes/app/api/plants/route.js', 'test/programs/runtimes/contract-next.ts');
  // Next itself is installed in the folder above.
  const configuration =
    "{ basePath: '/base', trailingSlash: true, turbopack: { root: new URL('..', import.meta.url).pathname } }";
  await writeTo('slashes/next.config.mjs', `export default ${configuration};`);
  const program = startNext('slashes');
  onTestFinished(() => stop(program));
  const url = await urlOf(program);
  // Without the slash Next redirects with a 308, which `fetch` follows with the same body.
  for (const [i, path] of ['/base/api/plants', '/base/api/plants/'].entries()) {
    const headers = { authorization: 'Bearer good.slashes', 'content-type': 'application/json' };
    const body = `{"id":${i},"name":"Rosa canina"}`;
    const response = await fetch(url + path, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([200, '{"name":"Rosa canina"}']);
  }
});

describe.each(named(runtimes))('on %s', (_, { start, example, within, readsBodies = false }) => {
  const { mount, inside: insidePath } = within ?? { mount: '', inside: '/inside' };
  let program: Program;
  let url: string;
  let client: Client;

  beforeAll(async () => {
    program = await start();
    url = await urlOf(program);
    client = clientOf(url + mount);
  });
  afterAll(() => stop(program));

  const inside = async (id: string) => {
    const answer = await fetch(`${url}${insidePath}?id=${id}`);
    return (await answer.json()) as { errors: number; plants: { id: string; name: string; tag?: string }[] };
  };

  const ours = contractCases.filter(({ expected: { status } }) => !within || ![404, 405].includes(status));

  test.each(withIds(ours))('%s', async (_, contractCase) => {
    const { id, expected, before, request } = contractCase;
    const { errors } = await inside(id);
    expect(await faultsOf(contractCase, client.send)).toEqual([]);
    const after = await inside(id);
    expect(after.errors - errors).toBe(expected.status >= 500 ? 1 : 0);
    if (request.headers?.authorization) return;
    expect(after.plants).toHaveLength((before ? 1 : 0) + (expected.status === 200 ? 1 : 0));
    const { stores } = expected;
    if (stores) expect(after.plants.at(-1)).toEqual({ ...stores, id: String(stores.id) });
  });

  if (example) {
    test('the example creates plants and keeps their ids exact', async () => {
      const started = await example();
      onTestFinished(() => stop(started));
      await expectExactPlants(await urlOf(started));
    });
  }

  test.skipIf(readsBodies)(
    'hazard: an upload that never ends is rejected as soon as it is too large',
    async () => {
      const chunk = new Uint8Array(2 ** 16).fill(0x20);
      let left = bodyLimit / chunk.length + 1;
      // Then the client stops writing: a client that writes while the connection is cut may not read the response.
      const body = new ReadableStream({
        pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : new Promise(() => {})),
      });
      const headers = { authorization: `Bearer good.endless`, 'content-type': 'application/json' };
      const answer = await fetch(`${url}${mount}/plants`, {
        method: 'POST',
        headers,
        body,
        duplex: 'half',
      } as RequestInit);
      expect(await answer.json()).toMatchObject({ error: 40006 });
    },
  );
});
