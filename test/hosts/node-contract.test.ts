import { request as httpRequest, createServer as httpServer, type RequestOptions } from 'node:http';
import { connect, createSecureServer, createServer as http2Server } from 'node:http2';
import { request as httpsRequest, createServer as httpsServer } from 'node:https';
import type { Server } from 'node:net';
import { createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  type CompleteRequest,
  contractCases,
  contractSetup,
  faultsOf,
} from '../cases/contract.js';
import { certificate } from '../support/certificate.js';
import { listen } from '../support/sockets.js';

type Listener = ReturnType<typeof toNode>;
type Send = (request: CompleteRequest) => Promise<Answer>;

const hosts: readonly {
  name: string;
  serve: (listener: Listener) => Server;
  client: (port: number) => { send: Send; close: () => void };
}[] = [
  {
    name: 'node:http',
    serve: (listener) => httpServer(listener),
    client: (port) => ({ send: (request) => sendHttp1(httpRequest, { port }, request), close() {} }),
  },
  {
    name: 'node:https',
    serve: (listener) => httpsServer(certificate, listener),
    client: (port) => ({
      send: (request) => sendHttp1(httpsRequest, { port, rejectUnauthorized: false }, request),
      close() {},
    }),
  },
  {
    name: 'node:http2, cleartext',
    serve: (listener) => http2Server(listener),
    client: (port) => http2Client(`http://127.0.0.1:${port}`),
  },
  {
    name: 'node:http2, TLS',
    serve: (listener) => createSecureServer(certificate, listener),
    client: (port) => http2Client(`https://127.0.0.1:${port}`),
  },
];

describe.each(hosts)('the contract table over a socket of $name', ({ serve, client }) => {
  const { storage, verifyToken, options, errors, stored } = contractSetup();
  const handle = createPlantStore(storage, verifyToken, options);
  let server: Awaited<ReturnType<typeof listen>>;
  let opened: ReturnType<typeof client>;
  beforeAll(async () => {
    server = await listen(serve(toNode(handle)));
    opened = client(server.port);
  });
  afterAll(async () => {
    opened.close();
    await server.close();
  });

  test.each(contractCases)('$id: $title', async (contractCase) => {
    const { expected, before, request } = contractCase;
    const reported = errors.length;
    expect(await faultsOf(contractCase, opened.send)).toEqual([]);
    expect(errors.length - reported).toBe(expected.status >= 500 ? 1 : 0);
    if (request.headers?.authorization) return;
    const plants = stored(contractCase);
    expect(plants).toHaveLength((before ? 1 : 0) + (expected.status === 200 ? 1 : 0));
    if (expected.stores) expect(plants.at(-1)).toEqual(expected.stores);
  });
});

/** Sends with `node:http` or `node:https`, on connections that are kept alive. */
function sendHttp1(
  open: typeof httpRequest,
  options: RequestOptions & { rejectUnauthorized?: boolean },
  { method, path, headers, body }: CompleteRequest,
): Promise<Answer> {
  const length = body || method === 'POST' ? { 'content-length': body?.length ?? 0 } : {};
  return new Promise((resolve, reject) => {
    const outgoing = open({ ...options, method, path, headers: { ...headers, ...length } }, (incoming) => {
      const status = incoming.statusCode ?? 0;
      const found = new Headers(incoming.headers as Record<string, string>);
      textOf(incoming).then((text) => resolve({ status, headers: found, text }), reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends streams of one HTTP/2 session, so that whatever a case leaves behind on it harms the next. */
function http2Client(authority: string): { send: Send; close: () => void } {
  const session = connect(authority, { rejectUnauthorized: false });
  return {
    close: () => session.destroy(),
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const stream = session.request(
          { ...headers, ':method': method, ':path': path },
          { endStream: body === undefined },
        );
        stream.on('response', (received) => {
          const { ':status': status = 0, ...rest } = received;
          const names = Object.keys(rest);
          const forbidden = names.filter((name) => connectionHeaders.includes(name));
          if (forbidden.length > 0) reject(new Error(`HTTP/2 has no header ${forbidden}`));
          const found = new Headers(names.map((name) => [name, String(rest[name])]));
          textOf(stream).then((text) => resolve({ status, headers: found, text }), reject);
        });
        stream.on('error', reject);
        if (body) stream.end(body);
      }),
  };
}

/** Those that RFC 9113 §8.2.2 forbids. */
const connectionHeaders = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'];

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
