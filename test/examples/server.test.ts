import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPlant } from '../support/plants.js';
import { type Program, paste, portOf, runExample, startExample, startProgram } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';
import { raw } from '../support/sockets.js';
import { waitFor } from '../support/wait-for.js';
import { startDemo } from './demo.js';

const inMemory = { DATABASE_URL: 'memory:' };
const token = 'for-evaluation-only';
const json = 'Content-Type: application/json';
const authorized = [`Authorization: Bearer ${token}`, json];
const ilex = '{"id":1,"name":"Ilex"}';

function start(env: Record<string, string> = {}): Program {
  return runExample('server', { ...inMemory, ...env });
}

/** A server that the tests of a group share. */
function sharedPort(): () => number {
  let port = 0;
  beforeAll(async () => {
    const program = startExample('server', inMemory);
    port = await portOf(program);
    return () => void program.child.kill('SIGKILL');
  });
  return () => port;
}

/** Writes bytes to a new connection and returns all that comes back until the server ends it. */
async function exchange(port: number, ...bytes: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  for (const part of bytes) socket.write(part);
  return text(socket);
}

describe('npm start', () => {
  it('is what starts the demo server', async () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    const program = startProgram(scripts.start.split(' '), inMemory);
    onTestFinished(() => void program.child.kill('SIGKILL'));
    const { status } = await fetch(`http://127.0.0.1:${await portOf(program)}`);
    expect(status).toBe(200);
  });

  it('says in one line what is missing if the development dependencies are not installed', async () => {
    // A folder from which no node_modules is found, as after npm ci --omit=dev.
    const folder = mkdtempSync(join(tmpdir(), 'plants-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    cpSync(`${root}examples`, join(folder, 'examples'), { recursive: true });
    cpSync(`${root}package.json`, join(folder, 'package.json'));
    const program = startProgram([process.execPath, join(folder, 'examples/server/start.js')]);
    expect(await program.exit).toBe(1);
    expect(program.output()).toBe('plant-store: dependencies are missing: run npm ci\n');
  });
});

describe('the demo server', () => {
  it('stores its plants in ./plants.db if DATABASE_URL is empty', async () => {
    const folder = newFolder();
    const program = startDemo([], { DATABASE_URL: '' }, folder);
    await program.printed(new RegExp(`Storage +${folder}/plants.db\n`));
    expect(existsSync(join(folder, 'plants.db'))).toBe(true);
  });

  // That SIGTERM does the same, `a stop loses no create` shows.
  it('responds to the requests in flight on SIGINT, closes idle connections, and exits with 0', async () => {
    const program = start();
    const port = await portOf(program);
    const idle = connect(port, '127.0.0.1');
    await once(idle, 'connect');
    const busy = connect(port, '127.0.0.1');
    const body = '{"id":7,"name":"Ilex"}';
    busy.write(raw([...authorized, 'Expect: 100-continue', `Content-Length: ${body.length}`]));
    const [interim] = await once(busy, 'data');
    expect(String(interim)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    const idleClosed = once(idle, 'close');
    program.child.kill('SIGINT');
    await idleClosed;
    busy.write(body);
    expect(await text(busy)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\{"name":"Ilex"\}$/);
    expect(await program.exit).toBe(0);
    expect(program.output()).toMatch(/\nplant-store stopped\. Plants: in memory, lost on exit\n$/);
  });

  it('sends no 100 if it rejects the request', async () => {
    const port = await portOf(start({ BODY_LIMIT: '100' }));
    const expecting = ['Expect: 100-continue', json, 'Content-Length: 101'];
    expect(await exchange(port, raw(expecting))).toMatch(/^HTTP\/1\.1 401 [\s\S]*"error":40101/);
    const large = await exchange(port, raw([...expecting, `Authorization: Bearer ${token}`]));
    expect(large).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":40006/);
  });
});

describe('what Node rejects by itself', () => {
  const port = sharedPort();
  it.each([
    ['bytes that are not HTTP', 'good morning\r\n\r\n', 400],
    ['headers that are too large for Node', raw([`X: ${'x'.repeat(20_000)}`]), 431],
    ['HTTP/1.1 without a Host', 'GET /plants HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', raw(['Host: localhost']), 400],
    ['CONNECT', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n', 501],
    ['an unknown expectation', raw(['Expect: tea']), 417],
    ['two lengths', raw(['Content-Length: 1', 'Content-Length: 2'], 'ab'), 400],
  ])("gets the contract's Error: %s", async (_title, bytes, status) => {
    const answer = await exchange(port(), bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/json/i);
    expect(JSON.parse(body)).toEqual({ error: status * 100, message: expect.any(String) });
  });
});

it('a connection that ends in the midst of a body gets body_incomplete, and in the midst of the headers a 400', async () => {
  const port = await portOf(start());
  const endOf = async (bytes: string) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(bytes);
    return text(socket);
  };
  const upload = raw([...authorized, 'Content-Length: 99'], '{"id":1');
  expect(await endOf(upload)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":40007/);
  expect(await endOf('POST /plants HTTP/1.1\r\nHost: localhost\r\n')).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*"error":40000/,
  );
});

it('with a token of its own, the server rejects a Host that is no host', async () => {
  const port = await portOf(start({ TOKEN: 'a-secret' }));
  for (const host of ['a b/c', 'a/b', 'a@b', 'a:b', '[x]'])
    expect([
      host,
      await exchange(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    ]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 400 [\s\S]*"error":40000/)]);
});

describe('with the public token, the server', () => {
  const port = sharedPort();
  let nextId = 1;

  /** The status and the error code of a GET of the page, a create, and an upload that waits, which name this host. */
  async function asHost(host: string, target = ''): Promise<[number, number | undefined][]> {
    const request = (line: string, headers: string[], body = '') =>
      exchange(port(), raw(['Connection: close', ...headers], body, { line }).replace('localhost', host));
    const create = `POST ${target}/plants HTTP/1.1`;
    const answers = [
      await request(`GET ${target}/ HTTP/1.1`, []),
      await request(create, authorized, `{"id":${nextId++},"name":"Ilex"}`),
      await request(create, [...authorized, 'Expect: 100-continue'], '1'),
    ];
    return answers.map((answer) => {
      const [, status] = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d+)/.exec(answer)!;
      const [, error] = /"error":(\d+),"message":"./.exec(answer.split('\r\n\r\n').at(-1)!) ?? [];
      return [Number(status), error === undefined ? undefined : Number(error)];
    });
  }
  const served = [
    [200, undefined],
    [200, undefined],
    [400, 40002],
  ];
  const refused = Array(3).fill([421, 42100]);

  it.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:80', '127.1.2.3', '[::1]', '[::1]:3000', 'localhost.'])(
    'serves %s, a name of the machine itself',
    async (host) => expect(await asHost(host)).toEqual(served),
  );

  const others = ['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example'];
  it.each([
    ...[...others, 'evil.example#localhost', 'localhost@evil.example', '[::1].evil.example'],
    ...['192.168.0.1', '[::2]', ''],
  ])('serves neither page nor plants to "%s" (DNS rebinding)', async (host) => {
    expect(await asHost(host)).toEqual(refused);
  });

  it('reads the host of a target in absolute form', async () => {
    expect(await asHost('localhost', 'http://evil.example')).toEqual(refused);
    const [, create] = await asHost('localhost', 'http://localhost');
    expect(create).toEqual([200, undefined]);
  });

  it('accepts any host once the token is a secret, which its curl takes from the environment', async () => {
    const program = start({ TOKEN: 'a-secret', HOST: '0.0.0.0' });
    const [curl] = await program.printed(/curl -i .*/);
    expect(program.output()).not.toContain('a-secret');
    expect(await paste(curl, { TOKEN: 'a-secret' })).toMatch(/^HTTP\/1\.1 200 OK/);
    const page = 'GET / HTTP/1.1\r\nHost: garden.example\r\nConnection: close\r\n\r\n';
    expect(await exchange(Number(/:(\d+)\//.exec(curl)![1]), page)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('in the terminal', () => {
  const lines = (program: Program) =>
    program
      .output()
      .split('\n')
      .filter((line) => / [\d.]+ ms$/.test(line))
      .map((line) => line.replace(/ \d+\.\d ms$/, ' ms'));

  it('there is a line for each request that was served, without its query or authority, and of a path at most 300 characters', async () => {
    const program = start();
    const port = await portOf(program);
    const url = `http://127.0.0.1:${port}`;
    for (const given of [token, token, 'wrong']) await createPlant(url, ilex, given);
    await fetch(`${url}/?token=a-secret`);
    await exchange(port, 'GET http://a:b@evil.example/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await fetch(`${url}/${'x'.repeat(5_000)}`);
    await waitFor(() => expect(lines(program)).toHaveLength(6));
    expect(lines(program)).toEqual([
      'POST /plants 200 ms',
      'POST /plants 400 40003 ms',
      'POST /plants 401 40102 ms',
      'GET / 200 ms',
      'GET /x 421 42100 ms',
      `GET /${'x'.repeat(299)} 404 40401 ms`,
    ]);
  });

  it('a client that disconnects before its response is shown as disconnected', async () => {
    const program = start();
    const socket = connect(await portOf(program), '127.0.0.1');
    socket.write(raw([...authorized, 'Expect: 100-continue', 'Content-Length: 9']));
    await once(socket, 'data');
    socket.destroy();
    await program.printed(/^POST \/plants disconnected [\d.]+ ms$/m);
  });

  it('there is none with --quiet', async () => {
    const program = startDemo(['--quiet'], inMemory);
    const url = `http://127.0.0.1:${await portOf(program)}`;
    expect((await createPlant(url, ilex, token)).status).toBe(200);
    program.child.kill('SIGTERM');
    await program.exit;
    expect(lines(program)).toEqual([]);
  });
});

it('a stop loses no create on connections that clients keep', async () => {
  const program = start();
  const port = await portOf(program);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  onTestFinished(() => agent.destroy());
  const lost: unknown[] = [];
  let id = 0;
  /** Creates one plant after the other, until the server takes no new connection. */
  const createAll = async () => {
    for (let isOpen = true; isOpen; ) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sending = request({ port, path: '/plants', method: 'POST', agent, headers });
      sending.end(`{"id":${id++},"name":"Ilex"}`);
      try {
        const [response] = (await once(sending, 'response')) as [IncomingMessage];
        await text(response);
      } catch (error) {
        isOpen = false;
        if (sending.reusedSocket) lost.push(error);
      }
    }
  };
  const creating = Promise.all(Array.from({ length: 8 }, createAll));
  await waitFor(() => expect(id).toBeGreaterThan(100));
  program.child.kill('SIGTERM');
  await creating;
  expect(await program.exit).toBe(0);
  expect(lost).toEqual([]);
});

it('after SIGINT plants.db alone holds the plants, and a line says where they are', async () => {
  const folder = newFolder();
  const file = join(folder, 'plants.db');
  const first = start({ DATABASE_URL: `file:${file}` });
  const create = (port: number) => createPlant(`http://127.0.0.1:${port}`, ilex, token);
  expect((await create(await portOf(first))).status).toBe(200);
  first.child.kill('SIGINT');
  expect(await first.exit).toBe(0);
  expect(first.output()).toMatch(new RegExp(`\nplant-store stopped\\. Plants: ${file}\n$`));
  const copy = join(folder, 'copy.db');
  cpSync(file, copy);
  const second = await portOf(start({ DATABASE_URL: `file:${copy}` }));
  expect(await create(second)).toMatchObject({ status: 400, body: { error: 40003 } });
});
