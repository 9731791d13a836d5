import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleOf } from '../support/bundle.js';
import { createPlant } from '../support/plants.js';
import { type Program, paste, portOf, runExample, startProgram, untilTestEnds } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';
import { waitFor } from '../support/wait-for.js';

function start(env: Record<string, string> = {}): Program {
  return runExample('server', { DATABASE_URL: 'memory:', ...env });
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
    const program = startProgram(scripts.start.split(' '), { DATABASE_URL: 'memory:' });
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
  it.each([
    ['PORT', 'eighty', 'PORT must be an integer from 0 to 65535, got "eighty"'],
    ['PORT', '65536', 'PORT must be'],
    ['BODY_LIMIT', '0', 'BODY_LIMIT must be'],
    ['TIMEOUT_MS', '-1', 'TIMEOUT_MS must be'],
    ['TIMEOUT_MS', '1.5', 'TIMEOUT_MS must be'],
    [
      'HOST',
      '0.0.0.0',
      'HOST 0.0.0.0 exposes the server to other machines: set TOKEN to a secret value first',
    ],
    ['HOST', '0.0.0.0 TOKEN=for-evaluation-only', 'set TOKEN'],
    ['TOKEN', 'two words', 'TOKEN may contain only A-Z a-z 0-9 - . _ ~ + / and trailing ='],
    ['DATABASE_URL', 'mongodb://127.0.0.1/plants', 'DATABASE_URL must start with'],
    ['DATABASE_URL', 'plants.db', 'DATABASE_URL must start with'],
    ['DATABASE_URL', 'file:', 'DATABASE_URL file: requires a path, such as file:plants.db'],
    ['DATABASE_URL', 'file::memory:', 'requires a path'],
    ['DATABASE_URL', 'file:plants.db?mode=memory', 'does not accept query parameters'],
    ['DATABASE_URL', 'memory:x', 'DATABASE_URL must be exactly memory: (nothing is written to disk)'],
  ])('rejects %s=%s in one line and exits with 1', async (name, text, message) => {
    const [value, ...more] = text.split(' TOKEN=');
    const program = start({ [name]: value!, ...(more[0] && { TOKEN: more[0] }) });
    expect(await program.exit).toBe(1);
    expect(program.output()).toContain(message);
    expect(program.output().trimEnd().split('\n')).toHaveLength(1);
  });

  it('takes its defaults for variables that are empty', async () => {
    const program = start({ HOST: '', TOKEN: '', BODY_LIMIT: '', TIMEOUT_MS: '', PORT: '' });
    const [printed] = await program.printed(/server on \S+|port 3000 is already in use/);
    expect(printed).toMatch(/http:\/\/127\.0\.0\.1:3000$|port 3000 is already in use/);
  });

  it('stores its plants in ./plants.db if DATABASE_URL is empty', async () => {
    const folder = newFolder();
    const loader = createRequire(import.meta.url).resolve('tsx');
    const program = startProgram(
      ['env', '-C', folder, process.execPath, '--import', loader, `${root}examples/server/server.ts`],
      { DATABASE_URL: '', TSX_TSCONFIG_PATH: `${root}tsconfig.json` },
    );
    onTestFinished(() => void program.child.kill('SIGKILL'));
    await program.printed(new RegExp(`Storage +${folder}/plants.db\n`));
    expect(existsSync(join(folder, 'plants.db'))).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'responds to the requests in flight on %s, closes idle connections, and exits with 0',
    async (signal) => {
      const program = start();
      const port = await portOf(program);
      const idle = connect(port, '127.0.0.1');
      await once(idle, 'connect');
      const busy = connect(port, '127.0.0.1');
      const body = '{"id":7,"name":"Ilex"}';
      busy.write(
        `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer for-evaluation-only\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      const [interim] = await once(busy, 'data');
      expect(String(interim)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      const idleClosed = once(idle, 'close');
      program.child.kill(signal);
      await idleClosed;
      busy.write(body);
      expect(await text(busy)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\{"name":"Ilex"\}$/);
      expect(await program.exit).toBe(0);
    },
  );

  it('sends no 100 if it rejects the request', async () => {
    const port = await portOf(start({ BODY_LIMIT: '100' }));
    const head =
      'POST /plants HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n';
    const refused = await exchange(port, `${head}Content-Length: 5\r\n\r\n`);
    expect(refused).toMatch(/^HTTP\/1\.1 401 [\s\S]*"error":40101/);
    const large = await exchange(
      port,
      `${head}Authorization: Bearer for-evaluation-only\r\nContent-Length: 101\r\n\r\n`,
    );
    expect(large).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":40006/);
  });

  it.each([
    ['bytes that are not HTTP', 'good morning\r\n\r\n', 400],
    [
      'headers that are too large for Node',
      `POST /plants HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
    ['HTTP/1.1 without a Host', 'GET /plants HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400],
    ['CONNECT', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n', 501],
    ['an unknown expectation', 'POST /plants HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n', 417],
    [
      'two lengths',
      'POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
  ])("responds to %s with the contract's Error", async (_title, bytes, status) => {
    const answer = await exchange(await portOf(start()), bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/json/i);
    expect(JSON.parse(body)).toEqual({ error: status * 100, message: expect.any(String) });
  });
});

describe('with the public token, the server', () => {
  /** The status and the error code of a GET of the page and of a create that name this host. */
  async function asHost(port: number, host: string, target = ''): Promise<[number, number | undefined][]> {
    const body = `{"id":${Math.trunc(performance.now() * 1_000)},"name":"Ilex"}`;
    const head = `Host: ${host}\r\nConnection: close\r\nAuthorization: Bearer for-evaluation-only\r\nContent-Type: application/json\r\n`;
    const answers = [
      await exchange(port, `GET ${target}/ HTTP/1.1\r\n${head}\r\n`),
      await exchange(
        port,
        `POST ${target}/plants HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
      ),
      await exchange(
        port,
        `POST ${target}/plants HTTP/1.1\r\n${head}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n1`,
      ),
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
  const refused = [
    [421, 42100],
    [421, 42100],
    [421, 42100],
  ];

  it('serves the names of the machine itself', async () => {
    const port = await portOf(start());
    const names = [
      'localhost',
      'LOCALHOST:3000',
      '127.0.0.1:80',
      '127.1.2.3',
      '[::1]',
      '[::1]:3000',
      'localhost.',
    ];
    for (const host of names) expect([host, await asHost(port, host)]).toEqual([host, served]);
  });

  it('serves neither page nor plants to any other host name (DNS rebinding)', async () => {
    const port = await portOf(start());
    for (const host of [
      'evil.example',
      'evil.example:3000',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'evil.example#localhost',
      'localhost@evil.example',
      '192.168.0.1',
      '[::2]',
      '[::1].evil.example',
      '',
    ]) {
      expect([host, await asHost(port, host)]).toEqual([host, refused]);
    }
    expect(await asHost(port, 'localhost', 'http://evil.example')).toEqual(refused);
    const [, create] = await asHost(port, 'localhost', 'http://localhost');
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
    const create = (token: string) =>
      createPlant(`http://127.0.0.1:${port}`, '{"id":1,"name":"Ilex"}', token);
    for (const token of ['for-evaluation-only', 'for-evaluation-only', 'wrong']) await create(token);
    await fetch(`http://127.0.0.1:${port}/?token=a-secret`);
    await exchange(port, 'GET http://a:b@evil.example/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await fetch(`http://127.0.0.1:${port}/${'x'.repeat(5_000)}`);
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
    socket.write(
      'POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer for-evaluation-only\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n',
    );
    await once(socket, 'data');
    socket.destroy();
    await program.printed(/^POST \/plants disconnected [\d.]+ ms$/m);
  });

  it('there is none with --quiet', async () => {
    const program = untilTestEnds(
      startProgram([process.execPath, bundleOf('examples/server/server.ts'), '--quiet'], {
        DATABASE_URL: 'memory:',
      }),
    );
    const url = `http://127.0.0.1:${await portOf(program)}`;
    expect((await createPlant(url, '{"id":1,"name":"Ilex"}', 'for-evaluation-only')).status).toBe(200);
    program.child.kill('SIGTERM');
    await program.exit;
    expect(lines(program)).toEqual([]);
  });
});

describe('after SIGINT', () => {
  it('plants.db alone holds the plants, and a line says where they are', async () => {
    const folder = newFolder();
    const file = join(folder, 'plants.db');
    const first = start({ DATABASE_URL: `file:${file}` });
    const create = (port: number) =>
      createPlant(`http://127.0.0.1:${port}`, '{"id":1,"name":"Ilex"}', 'for-evaluation-only');
    expect((await create(await portOf(first))).status).toBe(200);
    first.child.kill('SIGINT');
    expect(await first.exit).toBe(0);
    expect(first.output()).toMatch(new RegExp(`\nplant-store stopped\\. Plants: ${file}\n$`));
    const copy = join(folder, 'copy.db');
    cpSync(file, copy);
    const second = await portOf(start({ DATABASE_URL: `file:${copy}` }));
    expect(await create(second)).toMatchObject({ status: 400, body: { error: 40003 } });
  });

  it('a line says that plants in memory are lost', async () => {
    const program = start();
    await portOf(program);
    program.child.kill('SIGINT');
    expect(await program.exit).toBe(0);
    expect(program.output()).toMatch(/\nplant-store stopped\. Plants: in memory, lost on exit\n$/);
  });
});
