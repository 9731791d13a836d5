/** Clients that show a response as it was sent, over HTTP/1 or HTTP/2, with or without TLS. */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Answer, CompleteRequest } from './contract.js';
import { mountOf } from './sockets.js';

export interface Client {
  send: (request: CompleteRequest) => Promise<Answer>;
  close: () => void;
}

/** A client of a mount, such as `http://127.0.0.1:3000/api`; `h2:` is HTTP/2 over TLS, `h2c:` without it. */
export function clientOf(base: string): Client {
  const { protocol, origin, host } = new URL(base);
  const mount = mountOf(base);
  if (!protocol.startsWith('h2')) {
    return { send: (request) => sendHttp1(origin, { ...request, path: mount + request.path }), close() {} };
  }
  const scheme = protocol === 'h2:' ? 'https' : 'http';
  const session = connect(`${scheme}://${host}`, { rejectUnauthorized: false });
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':method': method, ':path': mount + path, ...headers });
        let answered: Omit<Answer, 'text'> | undefined;
        stream.on('response', (received) => {
          answered = { status: Number(received[':status']), headers: lookup(received) };
        });
        let text = '';
        stream.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        stream.on('end', () => {
          if (answered) resolve({ ...answered, text });
          // After an error response the remaining upload is not sent.
          stream.close();
        });
        stream.on('close', () => reject(new Error('closed without an answer')));
        stream.on('error', (error) => answered || reject(error));
        stream.end(body);
      }),
    close: () => session.close(),
  };
}

function sendHttp1(origin: string, { method, path, headers, body }: CompleteRequest): Promise<Answer> {
  const { protocol, hostname, port } = new URL(origin);
  const options = { hostname, port, path, method, headers, agent: false as const, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const request = protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
    let answered = false;
    request.on('response', (response) => {
      answered = true;
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers: lookup(headers), text: body }), reject);
    });
    // The server may cut the connection after it responded to a rejected upload.
    request.on('error', (error) => answered || reject(error));
    if (body) request.setHeader('content-length', body.byteLength);
    request.end(body);
  });
}

function lookup(headers: {
  readonly [name: string]: string | readonly string[] | undefined;
}): Answer['headers'] {
  return { get: (name) => headers[name]?.toString() ?? null };
}
