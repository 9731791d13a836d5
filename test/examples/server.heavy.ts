import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { portOf, runExample } from '../support/program.js';

it('closes a connection within 20 s if the head of its request does not end', async () => {
  const socket = connect(await portOf(runExample('server', { DATABASE_URL: 'memory:' })), '127.0.0.1');
  await once(socket, 'connect');
  const started = performance.now();
  socket.write('POST /plants HTTP/1.1\r\nHost: localhost\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"error":40800/);
  expect(performance.now() - started).toBeLessThan(20_000);
});
