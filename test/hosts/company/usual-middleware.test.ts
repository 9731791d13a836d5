/** The contract table behind what production apps put in front: CORS, helmet, compression, a rate limit. */
import { createServer } from 'node:http';
import compression from 'compression';
import cors from 'cors';
import express from 'express';
import rateLimit from 'express-rate-limit';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test } from 'vitest';
import { createPlant, rose } from '../../support/plants.js';
import { listen } from '../../support/sockets.js';
import { waitFor } from '../../support/wait-for.js';
import { type Before, type Host, hostNamed, theApp } from '../hosts.js';
import { contractOn } from '../suite.js';

const host: Host = {
  name: 'Express 5 behind CORS, helmet, compression and a rate limit',
  others: 'the app',
  start: (handle) => {
    const app = express().disable('etag');
    app.use(cors({ preflightContinue: true }), helmet(), compression({ threshold: 0 }));
    app.use(rateLimit({ limit: 10_000, validate: false }), toExpress(handle));
    app.use((_request, response) => void response.status(theApp.status).send(theApp.text));
    return listen(createServer(app));
  },
};

describe('the contract table, with all of them in front', () => contractOn(host));

test.each([
  ['a create', 'good', 200],
  ['a refused request', 'bad', 401],
])('pino-http logs the headers of the response to %s', async (_what, token, status) => {
  const lines: { res: { statusCode: number; headers: object } }[] = [];
  const before = pinoHttp({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const handle = createPlantStore(memoryStorage(), acceptTokens('good'));
  const { url, close } = await hostNamed('Express 5, at the root').start(handle, {
    before: before as Before,
  });
  const { headers } = await createPlant(url, rose, token);
  await waitFor(() => expect(lines).toHaveLength(1));
  const length = Number(headers.get('content-length'));
  expect(lines[0]?.res).toMatchObject({
    statusCode: status,
    headers: { 'content-type': 'application/json', 'content-length': length },
  });
  await close();
});
