import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { chunk, mountOf, raw } from '../../support/sockets.js';

export const mebibyte = 2 ** 20;

/**
 * Sends the head of an upload over HTTP/1, TLS or HTTP/2, as the URL of the mount says; the body is still to be written.
 * Without a length it is chunked.
 */
export function beginUpload(
  url: string,
  {
    token,
    length,
    connection = 'keep-alive',
  }: { token: string; length?: number | undefined; connection?: string },
) {
  const { protocol, host, port } = new URL(url);
  const path = `${mountOf(url)}/plants`;
  const isHttp2 = protocol === 'h2c:';
  let received = '';
  let stream: Duplex;
  if (isHttp2) {
    const session = connectHttp2(`http://${host}`);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(length && { 'content-length': length }),
    };
    stream = session
      .request({ ':method': 'POST', ':path': path, ...headers })
      .on('response', (headers) => {
        received = `HTTP/2 ${headers[':status']} \r\n\r\n`;
      })
      .on('close', () => session.destroy());
  } else {
    const to = { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false };
    stream = protocol === 'https:' ? connectTls(to) : connect(to);
    const framing = length ? `Content-Length: ${length}` : 'Transfer-Encoding: chunked';
    const headers = [`Authorization: Bearer ${token}`, 'Content-Type: application/json', framing];
    stream.write(raw([...headers, `Connection: ${connection}`], '', { line: `POST ${path} HTTP/1.1` }));
  }
  stream.on('error', () => {});
  /** Settles when the connection or the stream is closed. */
  const closed = new Promise<void>((resolve) => stream.on('close', resolve));
  /** Status and number of the Error; `closed` if there is none. */
  const answer = new Promise<string>((resolve) => {
    stream.on('data', (part) => {
      received += part;
      const [, status, error] = /^HTTP\/\S+ (\d+) .*\r\n\r\n.*\{"error":(\d+).*\}/s.exec(received) ?? [];
      if (status) resolve(`${status} ${error}`);
    });
    closed.then(() => resolve('closed'));
  });
  /** Resolves when the kernel has taken this part of the body, or the connection is closed. */
  const write = (part: Uint8Array) =>
    new Promise<void>((resolve) => {
      stream.write(length || isHttp2 ? part : chunk(part), () => resolve());
      closed.then(resolve);
    });
  /** Settles when the connection is open: from then on `pause` stops only what the client reads. */
  const opened = once(stream, isHttp2 ? 'ready' : protocol === 'https:' ? 'secureConnect' : 'connect');
  return { stream, opened, write, answer, closed };
}
