// Bodies on the wire, over HTTP/1 and HTTP/2: in pieces, over the limit, cut short.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { chunk, lastChunk, raw } from '../../support/sockets.js';
import { errorOf, json, protocols, rose, roseCreated, start, token } from './server.js';

test('a body that has come in two chunks is read whole, although verifyToken begins to listen to it', async () => {
  const { open } = await start({
    serve: (listener) =>
      createServer(async (request, response) => {
        while (!request.complete) await new Promise((resolve) => setImmediate(resolve));
        listener(request, response);
      }),
    verifyToken: (_token, { request }) => Boolean((request.raw as IncomingMessage).on('data', () => {})),
  });
  const wire = await open();
  const chunks = [chunk(rose.slice(0, 9)), chunk(rose.slice(9)), Buffer.from(lastChunk)];
  await wire.write(Buffer.concat([Buffer.from(raw([token, json, 'Transfer-Encoding: chunked'])), ...chunks]));
  expect(await wire.answer()).toMatchObject(roseCreated);
});

test('a parser may pass its plant on before the stream has told it of the end', async () => {
  const { open } = await start({
    serve: (listener) =>
      createServer((request, response) =>
        request.once('data', (bytes) => {
          listener(Object.assign(request, { body: JSON.parse(String(bytes)) }), response);
        }),
      ),
  });
  const wire = await open();
  await wire.write(raw([token, json, `Content-Length: ${rose.length}`], rose));
  expect(await wire.answer()).toMatchObject(roseCreated);
});

describe.each(protocols)('on %s', (_, serve, begin, ways) => {
  const bodyLimit = 100;

  test('a body of exactly the limit is read, although its pieces split every character, and no listener is left', async () => {
    const body = Buffer.from('{"id":1,"name":"Épine 🌹"}');
    const { port, plants, calls } = await start({ serve, options: { bodyLimit: body.length } });
    const sender = await begin(port);
    for (const byte of body) await sender.write(Buffer.of(byte));
    await sender.write('', true);
    expect(await sender.text()).toBe('{"name":"Épine 🌹"}');
    expect(plants.get(1n)).toEqual({ id: 1n, name: 'Épine 🌹' });
    const request = (await calls.next()).request.raw as IncomingMessage;
    expect(['data', 'readable', 'end'].map((event) => request.listenerCount(event))).toEqual([0, 0, 0]);
  });

  test('a declared length over the limit is rejected before any of the body arrives', async () => {
    const { port, calls } = await start({ serve, options: { bodyLimit } });
    const sender = await begin(port, bodyLimit + 1);
    expect(errorOf({ text: await sender.text() })).toBe(40006);
    expect((await calls.next()).request.raw).toHaveProperty('readableDidRead', false);
  });

  test('a body over the limit is rejected while the client still writes, and its stream is closed', async () => {
    const { port, plants, calls } = await start({ serve, options: { bodyLimit } });
    const sender = await begin(port);
    const { request } = await calls.next();
    const { stream } = request.raw as Http2ServerRequest;
    const closed = stream && once(stream, 'close');
    // More than the streams buffer.
    for (let i = 0; i < 3; i++) await sender.write(rose.padEnd(2 ** 14));
    expect(errorOf({ text: await sender.text() })).toBe(40006);
    // Although the stream was paused with unread data in it.
    await closed;
    await sender.write('', true);
    expect(plants.size).toBe(0);
  });

  const moments = [
    ['nothing', '', false],
    ['half a plant', rose.slice(0, 12), false],
    ['a whole plant, but not a whole body', rose, false],
    ['a whole body', rose, true],
  ] as const;
  const departures = ways.flatMap((way) =>
    moments.flatMap(([sent, part, isWhole]) =>
      [false, true]
        // A whole body would be stored before the client leaves, and what follows it breaks nothing of it.
        .filter((isVerifying) => !isWhole || (isVerifying && !way.startsWith('breaks')))
        .map((isVerifying) => [way, sent, isVerifying ? ' during verifyToken' : '', part, isWhole] as const),
    ),
  );
  test.each(departures)(
    'the call settles, nothing is stored and onError is not called if a client %s after %s%s',
    async (way, _sent, during, part, isWhole) => {
      const decision = deferred<boolean>();
      if (!during) decision.resolve(true);
      const { port, plants, errors, calls } = await start({ serve, verifyToken: () => decision.promise });
      const sender = await begin(port);
      if (part) await sender.write(part, isWhole);
      const { request, response } = await calls.next();
      const gone = during && once(request.signal!, 'abort');
      await sender.leave(way);
      await gone;
      decision.resolve(true);
      expect(errorOf({ text: (await response).body })).toBe(40007);
      expect(plants.size).toBe(0);
      expect(errors).toEqual([]);
    },
  );

  test.each<[string, (request: IncomingMessage) => unknown]>([
    ['an app destroys its request', (request) => request.destroy()],
    ['an app destroys its request with an error', (request) => request.destroy(new Error('of the app'))],
    // The stream never closes.
    ['its stream fails', (request) => request.emit('error', new Error('of the source'))],
  ])('a body is incomplete if %s within it, and once more harms nobody', async (_how, spoil) => {
    // The clock stands still: a body that waited for the timeout would never be incomplete.
    fakeTimeouts();
    const { port, plants, errors, calls } = await start({ serve });
    await (await begin(port, 99)).write(rose);
    const { request, response } = await calls.next();
    spoil(request.raw as IncomingMessage);
    expect(errorOf({ text: (await response).body })).toBe(40007);
    spoil(request.raw as IncomingMessage);
    expect(plants.size).toBe(0);
    expect(errors).toEqual([]);
  });
});
