// Rejected uploads that share an HTTP/2 connection of Node's own client, which keeps what it has not sent of a stream that was reset, and
// refuses responses while it keeps more than 10 MB: each upload gets its response, and so does the next plant.
import { connect, createServer } from 'node:http2';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { toRoute } from 'plant-store/fetch';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isHeavy } from '../../support/heavy.js';
import { listen, mountOf } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { type Host, hosts } from '../hosts.js';
import { startedFor } from './refused-uploads.js';

const honoOnHttp2: Host = {
  name: 'Hono on HTTP/2',
  start: (handle) => {
    const plants = toRoute(handle);
    const app = new Hono().post('/plants', (context) => plants(context.req.raw));
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    return listen(createServer(listener as Parameters<typeof createServer>[1]), 'h2c:');
  },
};

const onHttp2 = [...hosts.filter(({ name }) => /http2|HTTP\/2, at/.test(name)), honoOnHttp2];

const floods = [
  { uploads: 8, size: 2_000_000 },
  ...(isHeavy
    ? [
        { uploads: 12, size: 1_100_000 },
        { uploads: 100, size: 200_000 },
        { uploads: 300, size: 60_000 },
      ]
    : []),
];

describe.each(named(onHttp2))('on %s', (_, host) => {
  const running = startedFor(host);

  async function open() {
    const { url } = running();
    const session = connect(url.replace('h2c:', 'http:'));
    onTestFinished(() => session.destroy());
    const path = `${mountOf(url)}/plants`;
    /** The status of the response, and the number of its Error. */
    return async (token: string, body: string | Uint8Array): Promise<string> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
      let status: unknown;
      stream.on('response', (head) => {
        status = head[':status'];
      });
      const { error = '' } = JSON.parse(await text(stream.end(body)));
      return `${status} ${error}`.trimEnd();
    };
  }

  test.each(floods)(
    '$uploads uploads of $size bytes, one after the other, get their 401',
    async ({ uploads, size }) => {
      const send = await open();
      for (let i = 0; i < uploads; i++) expect(await send('bad', new Uint8Array(size))).toBe('401 40102');
      expect(await send('secret', `{"id":${size},"name":"Rosa"}`)).toBe('200');
    },
  );

  // Not more at once than the client has memory for: it refuses the responses of any server while it has not sent more.
  test.each(floods)(
    '$uploads uploads of $size bytes, several at once, get their 401',
    async ({ uploads, size }) => {
      const send = await open();
      for (let left = uploads; left > 0; ) {
        const wave = Math.min(left, Math.floor(8_000_000 / size));
        const sent = Array.from({ length: wave }, () => send('bad', new Uint8Array(size)));
        expect(await Promise.all(sent)).toEqual(Array(wave).fill('401 40102'));
        left -= wave;
      }
      expect(await send('secret', `{"id":${-size},"name":"Rosa"}`)).toBe('200');
    },
  );
});
