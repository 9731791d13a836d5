// After a refusal: what happens to the upload and to the connection.
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { raw } from '../../support/sockets.js';
import { errorOf, json, rose, roseCreated, start, token } from './server.js';

describe('after a rejected request', () => {
  const refused = raw(['Authorization: Bearer bad', json], rose);

  test('pipelined requests get their responses in order, with a rejected upload among them too', async () => {
    const { open } = await start();
    const wire = await open();
    const other = raw([token, json], '{"id":2,"name":"second"}');
    await wire.write(
      raw([token, json], rose) + refused + raw([], '', { line: 'GET /trees HTTP/1.1' }) + other,
    );
    expect(await wire.answer()).toMatchObject(roseCreated);
    expect((await wire.answer()).status).toBe(401);
    expect((await wire.answer()).status).toBe(404);
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"second"}' });
  });

  type Serve = NonNullable<NonNullable<Parameters<typeof start>[0]>['serve']>;
  test.each<[string, Serve]>([
    [
      'the app asks for it',
      (listener) =>
        createServer((request, response) => {
          response.setHeader('Connection', 'close');
          listener(request, response);
        }),
    ],
    [
      'it has had its number of requests',
      (listener) => Object.assign(createServer(listener), { maxRequestsPerSocket: 1 }),
    ],
  ])(
    'on a connection that is closed because %s, a client that writes 16 MiB before it reads gets its response',
    async (_why, serve) => {
      const { open } = await start({ serve });
      const wire = await open();
      wire.socket.pause();
      // More than the kernels buffer.
      const size = 16 * 2 ** 20;
      await wire.write(raw(['Authorization: Bearer bad', json, `Content-Length: ${size}`]));
      expect(await wire.write(Buffer.alloc(size))).toBe(true);
      wire.socket.resume();
      expect(errorOf(await wire.answer())).toBe(40102);
    },
  );

  test('the server ends the response first on a connection that closes, and then cuts off a client that keeps its side open', async () => {
    // On a real one, a busy machine might read the end only after the cut.
    const clock = fakeTimeouts();
    const sockets: Socket[] = [];
    const serve: Serve = (listener) =>
      createServer(listener).on('connection', (socket) => void sockets.push(socket));
    const { port } = await start({ serve });
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    let isEnded = false;
    client.resume().on('end', () => {
      isEnded = true;
    });
    client.write(raw(['Authorization: Bearer bad', json, 'Connection: close', 'Content-Length: 1000']));
    while (!isEnded) await clock.pass(50);
    const [socket] = sockets;
    expect(socket!.destroyed).toBe(false);
    while (!socket!.destroyed) await clock.pass(50);
  });
});
