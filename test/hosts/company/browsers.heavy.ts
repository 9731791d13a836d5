// A page that uploads what is refused, in a real Chromium on HTTP/1.1: each upload gets its response, and so does the next plant, on a
// connection that an upload has had.
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../ecosystem/forms.js';
import { withoutChromium } from '../../support/chromium.js';
import type { Any } from '../../support/installed.js';
import { describeUnless } from '../../support/obstacle.js';
import { named, titled } from '../../support/titled.js';
import { hostNamed } from '../hosts.js';
import { startedFor } from '../uploads/refused-uploads.js';

const hosts = ['node:http', 'Fastify 5, at the root', 'Hono, by route'].map(hostNamed);

const refusals = [
  { why: 'an expired token', token: 'expired', expected: '401 40102' },
  { why: 'its length', token: 'secret', expected: '400 40006' },
] as const;

const floods = [
  { how: 'one upload of 2 MB', uploads: 1, size: 2_000_000 },
  { how: '8 uploads of 2 MB, at once', uploads: 8, size: 2_000_000 },
  { how: '40 uploads of 60 kB, at once', uploads: 40, size: 60_000 },
  // More than the buffers of both kernels' sockets.
  { how: '2 uploads of 12 MB, at once', uploads: 2, size: 12_000_000 },
] as const;

const rows = floods.flatMap((flood) =>
  refusals
    // The limit of a body is 100 kB.
    .filter(({ why }) => why !== 'its length' || flood.size > 100_000)
    .map((refusal) => ({ ...flood, ...refusal })),
);

/** Runs in the page: the status of the response and the number of its Error, or why there is none. */
async function postAll({ url, token, bodies }: { url: string; token: string; bodies: (string | number)[] }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (body: string | number) => {
    try {
      const bytes = typeof body === 'string' ? body : new Uint8Array(body).fill(0x20);
      const response = await fetch(url, { method: 'POST', headers, body: bytes });
      const { error = '' } = (await response.json()) as { error?: number };
      return `${response.status} ${error}`.trimEnd();
    } catch (error) {
      return String(error);
    }
  };
  return Promise.all(bodies.map(post));
}

describeUnless(withoutChromium, 'a page in Chromium', () => {
  let browser: Any;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  describe.each(named(hosts))('of the origin of %s', (_, host) => {
    const running = startedFor(host);
    let id = 0;

    test.each(titled(rows, ({ how, why }) => `${how}, refused for ${why}`))(
      'gets each response: %s, and creates a plant',
      async (_, { uploads, size, token, expected }) => {
        const { url, server } = running();
        const context = await browser.newContext();
        onTestFinished(() => context.close());
        const page = await context.newPage();
        // Whatever the app responds here is a page of its origin.
        await page.goto(url);
        const ports: number[] = [];
        // The browser looks for an icon, too.
        const note = ({ method, socket }: IncomingMessage) => {
          if (method === 'POST') ports.push(socket.remotePort!);
        };
        server.on('request', note);
        onTestFinished(() => void server.off('request', note));
        const post = (token: string, bodies: (string | number)[]) =>
          page.evaluate(postAll, { url: `${url}/plants`, token, bodies });

        expect(await post(token, Array(uploads).fill(size))).toEqual(Array(uploads).fill(expected));
        expect(await post('secret', [`{"id":${id++},"name":"Rosa canina"}`])).toEqual(['200']);
        // Chromium would send an upload again, and say nothing, if a connection that it had kept broke.
        expect(ports).toHaveLength(uploads + 1);
        expect(ports.slice(0, uploads)).toContain(ports[uploads]);
      },
    );
  });
});
