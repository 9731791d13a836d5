// Rejected uploads: of 2 MiB on one host of each adapter, and with `npm run test:heavy` of 12 MiB on every host on Node.
import { createServer } from 'node:http';
import { describe } from 'vitest';
import { isHeavy } from '../../support/heavy.js';
import { listen } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { type Host, oneOfEachAdapter } from '../hosts.js';
import { eachIsAnswered, nextIsAnswered } from './refused-uploads.js';

/** The handler called by the app itself. */
const byHand: Host = {
  name: 'node:http with { body: request }',
  start: (handle) =>
    listen(
      createServer(async (request, response) => {
        const { method = '', url = '', headers } = request;
        const answer = await handle({ method, url, headers, body: request });
        response.writeHead(answer.status, answer.headers).end(answer.body);
      }),
    ),
};

const all = isHeavy ? (await import('../../ecosystem/hosts.js')).everyHost : oneOfEachAdapter;
const http1 = [...all, byHand].filter(({ name }) => !/http2|HTTP\/2/.test(name));

/** This row's Hapi is initialized, not started, and closes the connection; a started one takes the next request. */
const cutsUploads = ({ name }: Host) => name === 'Hapi';

const mebibytes = isHeavy ? 12 : 2;

describe.each(named(http1))('on %s', (_, host) => {
  // The app itself decides when to send the response and when to close.
  if (host !== byHand) eachIsAnswered(host, mebibytes, 'close');
  if (!cutsUploads(host)) nextIsAnswered(host, mebibytes);
});
