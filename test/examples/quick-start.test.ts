// The programs of README.md, in the order in which a reader runs them. From the tarball: quick-start.runtime.ts.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examples } from '../support/examples.js';
import { createRequest } from '../support/plants.js';
import { freePort, paste, runExample, startExample } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';

const readme = readFileSync(`${root}README.md`, 'utf8');

describe('the quick start', () => {
  it('returns what README.md shows to its curl, and to its client', async () => {
    const port = await freePort();
    const program = runExample('express', { PORT: String(port) });
    await program.printed(/^Listening on http:\/\/127\.0\.0\.1:\d+\n$/);
    const [curl = ''] = /^curl .*$/m.exec(readme) ?? [];
    const response = await paste(curl.replace(':3000', `:${port}`));
    const [, shown = ''] = /```http\n([\s\S]*?)\n```/.exec(readme) ?? [];
    const [head = '', body] = response.split('\r\n\r\n');
    const lines = head.toLowerCase().split('\r\n');
    for (const line of shown.split('\n\n')[0]!.split('\n')) expect(lines).toContain(line.toLowerCase());
    expect(body).toBe(shown.split('\n\n')[1]);
    const client = runExample('first-plant', { URL: `http://127.0.0.1:${port}/api` });
    expect(await client.exit).toBe(1);
    expect(client.output()).toContain("problem: 'id_taken'");
  });

  it('authenticates by a function', async () => {
    const { handle } = await import('../../examples/around/verify-token.js');
    expect(await handle(createRequest('secret'))).toMatchObject({ status: 200 });
    expect(await handle(createRequest('wrong'))).toMatchObject({ status: 401 });
  });
});

describe('a port that is in use is a clear error, with which the process exits,', () => {
  // One for each way to listen: the other programs are written alike.
  const names = ['express', 'koa', 'fastify', 'hono', 'h3', 'node-http', 'shutdown'];
  it.concurrent.each(names)('in %s', async (name) => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const program = startExample(name, { PORT: String(port), DATABASE: join(newFolder(), 'plants.db') });
    expect(await program.exit).toBe(1);
    expect(program.output()).toMatch(/EADDRINUSE.*address already in use/);
    other.close();
  });

  // Express 5 would pass the error to a callback. Those of Express 4 have no parameter, so that one does not compile there.
  it('in each Express app, none of which passes `listen` a callback', () => {
    const apps = [...examples.values()]
      .map((path) => [path, readFileSync(root + path, 'utf8')] as const)
      .filter(([, text]) => text.includes("from 'express'") && text.includes('app.listen('));
    expect(apps.length).toBeGreaterThan(5);
    for (const [path, text] of apps)
      expect([path, text]).toEqual([path, expect.stringMatching(/app\.listen\([^=]*\)(;|\.on\()/)]);
  });
});
