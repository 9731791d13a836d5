// The request of an adapter in the loggers that people have: each copies, redacts or prints it in its own way. None throws, and none
// shows what is secret.
import { createServer } from 'node:http';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { createPlantStore, type PlantRequest } from 'plant-store';
import { toNode } from 'plant-store/node';
import { expect, it, onTestFinished } from 'vitest';
import { type Any, load } from '../support/installed.js';
import { listen } from '../support/sockets.js';

/** The line of OPERATING.md, and the other forms that pino has. */
const redactions: Record<string, object | string[]> = {
  'as the page says': ['req.headers.authorization', 'req.headers.cookie', 'req.url'],
  'by brackets and wildcards': ['req["headers"]["authorization"]', 'req.headers["*"]', 'req.*', '*.headers'],
  'with a censor': { paths: ['req.headers.authorization', 'req.body'], censor: () => 'gone' },
  'by removing': { paths: ['req.headers', 'req.raw', 'req.url'], remove: true },
};

type Log = (request: PlantRequest, write: (line: string) => void) => unknown;

const toStream = (write: (line: string) => void) =>
  new Writable({
    write(chunk, _encoding, done) {
      write(String(chunk));
      done();
    },
  });

const loggers: Record<string, Log> = {
  async winston(request, write) {
    const winston = (await load('winston')).default;
    const transports = [new winston.transports.Stream({ stream: toStream(write) })];
    for (const format of [winston.format.json(), winston.format.simple(), winston.format.prettyPrint()]) {
      const logger = winston.createLogger({ format, transports });
      logger.error('failed', { req: request });
      logger.error({ message: 'failed', ...request, request });
    }
  },
  async bunyan(request, write) {
    const bunyan = (await load('bunyan')).default;
    const log = bunyan.createLogger({ name: 'app', streams: [{ stream: toStream(write) }] });
    log.error({ req: request }, 'failed');
    log.error({ request }, 'failed');
  },
  async 'lodash, which clones it'(request, write) {
    const { default: lodash } = await load('lodash');
    for (const copy of [lodash.cloneDeep(request), lodash.clone(request), lodash.merge({}, { request })])
      write(JSON.stringify(copy));
    write(JSON.stringify(lodash.omit(request, ['headers'])));
  },
};
const pinos: Record<string, () => Promise<Any>> = {
  'pino 9': async () => (await load('pino9')).default,
  'pino 10': async () => pino,
};
for (const [version, open] of Object.entries(pinos)) {
  for (const [how, redact] of Object.entries(redactions)) {
    loggers[`${version} redacting ${how}`] = async (request, write) => {
      const logger = (await open())({ redact }, { write });
      logger.error({ req: request });
      logger.child({ req: request }).error(request);
      logger.error({ request, req: Object.create(request) });
    };
  }
}

it.each(Object.entries(loggers))('%s', async (_, log) => {
  const written: string[] = [];
  const faults: unknown[] = [];
  const use = async (request: PlantRequest) => {
    try {
      await log(request, (line) => void written.push(line));
    } catch (fault) {
      faults.push(fault);
    }
  };
  const storage = {
    create: async () => {
      throw new Error('an outage');
    },
  };
  const verifyToken = async (_token: string, { request }: { readonly request: PlantRequest }) => {
    await use(request);
    // It is as before: the create reads it.
    return request.url.includes('hidden') && request.headers !== undefined;
  };
  const handle = createPlantStore(storage, verifyToken, { onError: (_error, request) => use(request) });
  const { url, close } = await listen(createServer(toNode(handle)));
  onTestFinished(close);
  const headers = { authorization: 'Bearer hidden', cookie: 'hidden', 'content-type': 'application/json' };
  const response = await fetch(`${url}/plants?token=hidden`, {
    method: 'POST',
    headers,
    body: '{"id":1,"name":"Rosa"}',
  });
  expect([response.status, faults]).toEqual([500, []]);
  expect(written.length).toBeGreaterThan(1);
  expect(written.join()).not.toMatch(/hidden|bearer/i);
});
