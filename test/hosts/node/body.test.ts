// Bodies on the wire: in pieces, over the limit, cut short.
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as http2Server } from 'node:http2';
import { describe, expect, test } from 'vitest';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { Frames } from '../../support/frames.js';
import { chunk, lastChunk, raw, Wire } from '../../support/sockets.js';
import { errorOf, fields, json, rose, roseCreated, start, token } from './server.js';

describe('bodies on the wire', () => {
  test('a request that arrives byte by byte is read', async () => {
    const { open, plants } = await start();
    const wire = await open();
    for (const byte of Buffer.from(raw([token, json], '{"id":1,"name":"ばら"}'))) {
      await wire.write(Buffer.of(byte));
    }
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"ばら"}' });
    expect(plants.get(1n)).toEqual({ id: 1n, name: 'ばら' });
  });

  test('a chunked body is read, although its chunks split every character and trailers follow', async () => {
    const { open, plants } = await start();
    const wire = await open();
    await wire.write(raw([token, json, 'Transfer-Encoding: chunked']));
    for (const byte of Buffer.from('{"id":1,"name":"Épine 🌹"}')) await wire.write(chunk(Buffer.of(byte)));
    await wire.write('0\r\nX-Trailer: authorization\r\n\r\n');
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"Épine 🌹"}' });
    expect(plants.get(1n)).toEqual({ id: 1n, name: 'Épine 🌹' });
  });

  test('a declared length over the limit is rejected before any of the body arrives', async () => {
    const { open, calls } = await start({ options: { bodyLimit: 100 } });
    const wire = await open();
    await wire.write(raw([token, json, 'Content-Length: 101']));
    const answer = await wire.answer();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(40006);
    const { request } = await calls.next();
    expect(request.raw).toHaveProperty('readableDidRead', false);
  });

  test('a chunked body over the limit is rejected while the client still writes', async () => {
    const { open, plants } = await start({ options: { bodyLimit: 100 } });
    const wire = await open();
    await wire.write(raw([token, json, 'Transfer-Encoding: chunked']));
    await wire.write(chunk(rose.padEnd(101)));
    const answer = await wire.answer();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(40006);
    await wire.write(lastChunk);
    expect(plants.size).toBe(0);
  });

  test('a chunked body of exactly the limit is accepted', async () => {
    const { open } = await start({ options: { bodyLimit: 100 } });
    const wire = await open();
    await wire.write(raw([token, json, 'Transfer-Encoding: chunked']));
    await wire.write(Buffer.concat([chunk(rose.padEnd(99)), chunk(' ')]));
    await wire.write(lastChunk);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test.each([
    ['closes', (wire: Wire) => wire.destroy()],
    ['resets the connection', (wire: Wire) => wire.reset()],
    ['breaks the chunked coding', (wire: Wire) => wire.write('no chunk\r\n')],
  ])(
    'the call settles, nothing is stored and onError is not called if a client %s within the body',
    async (_how, leave) => {
      const { open, plants, errors, calls } = await start();
      const wire = await open();
      // A whole plant, but not a whole body: it must not be stored.
      await wire.write(raw([token, json, 'Transfer-Encoding: chunked']));
      await wire.write(chunk(rose));
      const { response } = await calls.next();
      await leave(wire);
      expect(errorOf({ text: (await response).body })).toBe(40007);
      expect(plants.size).toBe(0);
      expect(errors).toEqual([]);
    },
  );

  test.each([
    ['node:http', undefined],
    ['node:http', new Error('of the app')],
    ['node:http2', undefined],
    ['node:http2', new Error('of the app')],
  ])(
    'the call settles if an app on %s destroys the request within the body, with %s',
    async (name, error) => {
      const { port, plants, errors, calls } = await start({
        serve: (listener) => (name === 'node:http' ? createServer(listener) : http2Server(listener)),
      });
      if (name === 'node:http') {
        const wire = await Wire.open(port);
        await wire.write(raw([token, json, 'Content-Length: 99'], rose));
      } else {
        const frames = await Frames.open(port);
        frames.headers(1, fields);
        frames.data(1, rose);
      }
      const { request, response } = await calls.next();
      (request.raw as IncomingMessage).destroy(error);
      expect(errorOf({ text: (await response).body })).toBe(40007);
      expect(plants.size).toBe(0);
      expect(errors).toEqual([]);
    },
  );

  test('an error of the stream makes a body incomplete even if the stream never closes, and a second error harms nobody', async () => {
    const { open, plants, errors, calls } = await start();
    const wire = await open();
    await wire.write(raw([token, json, 'Content-Length: 99'], rose));
    const { request, response } = await calls.next();
    (request.raw as IncomingMessage).emit('error', new Error('of the source'));
    expect(errorOf({ text: (await response).body })).toBe(40007);
    (request.raw as IncomingMessage).emit('error', new Error('of the source again'));
    expect(plants.size).toBe(0);
    expect(errors).toEqual([]);
  });

  test('an upload that stalls is body_incomplete when the timeout expires, and the connection is cut', async () => {
    const clock = fakeTimeouts();
    const { open, plants, errors } = await start();
    const wire = await open();
    await wire.write(raw([token, json, 'Content-Length: 1000']));
    await wire.write(rose);
    await clock.expire();
    const answer = await wire.answer();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(40007);
    await wire.closed;
    expect(plants.size).toBe(0);
    expect(errors).toEqual([]);
  });
});
