import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Program, portOf, runExample } from '../support/program.js';

const shell = promisify(execFile);

function start(env: Record<string, string> = {}): Program {
  return runExample('server', { DATABASE_URL: 'memory:', ...env });
}

/** Writes bytes to a new connection and returns all that comes back until the server ends it. */
async function exchange(port: number, ...bytes: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  for (const part of bytes) socket.write(part);
  return text(socket);
}

describe('the evaluation server', () => {
  it('prints its address, its token and a curl that creates a plant when pasted', async () => {
    const program = start();
    const port = await portOf(program);
    const [curl] = await program.printed(/curl -i .*/);
    expect(program.output()).toContain('for-evaluation-only');
    const first = await shell('sh', ['-c', curl]);
    expect(first.stdout).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\n\{"name":"Rosa canina","tag":"shrub"\}$/);
    const second = await shell('sh', ['-c', curl]);
    expect(second.stdout).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":40003/);
    expect(curl).toContain(`http://127.0.0.1:${port}/plants`);
  });

  it.each([
    ['PORT', 'eighty', 'PORT must be a whole number from 0 to 65535, not "eighty"'],
    ['PORT', '65536', 'PORT must be'],
    ['BODY_LIMIT', '0', 'BODY_LIMIT must be'],
    ['TIMEOUT_MS', '-1', 'TIMEOUT_MS must be'],
    ['TIMEOUT_MS', '1.5', 'TIMEOUT_MS must be'],
    ['HOST', '0.0.0.0', 'set TOKEN'],
    ['TOKEN', 'two words', 'TOKEN must be'],
    ['DATABASE_URL', 'mongodb://127.0.0.1/plants', 'DATABASE_URL must start with'],
  ])('refuses %s=%s in one line and exits with 1', async (name, value, message) => {
    const program = start({ [name]: value });
    expect(await program.exit).toBe(1);
    expect(program.output()).toContain(message);
    expect(program.output().trimEnd().split('\n')).toHaveLength(1);
  });

  it('says in one line that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const program = start({ PORT: String(port) });
    expect(await program.exit).toBe(1);
    expect(program.output().trimEnd()).toBe(`plant-store: port ${port} is in use: set PORT to another`);
    other.close();
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'on %s answers the requests in flight, closes idle connections, and exits with 0',
    async (signal) => {
      const program = start();
      const port = await portOf(program);
      const idle = connect(port, '127.0.0.1');
      await once(idle, 'connect');
      const busy = connect(port, '127.0.0.1');
      const body = '{"id":7,"name":"Ilex"}';
      busy.write(
        `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer for-evaluation-only\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
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

  it('sends no 100 if it refuses the request', async () => {
    const port = await portOf(start({ BODY_LIMIT: '100' }));
    const head =
      'POST /plants HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n';
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
      `POST /plants HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
    ['an unknown expectation', 'POST /plants HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n', 417],
    [
      'two lengths',
      'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
  ])("answers %s with the contract's Error", async (_title, bytes, status) => {
    const answer = await exchange(await portOf(start()), bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/json/i);
    expect(JSON.parse(body)).toEqual({ error: status * 100, message: expect.any(String) });
  });
});
