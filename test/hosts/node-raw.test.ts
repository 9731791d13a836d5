import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import {
  connect,
  constants,
  type Http2ServerRequest,
  createServer as http2Server,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Server } from 'node:net';
import {
  createPlantStore,
  type NewPlant,
  type PlantStorage,
  type PlantStoreOptions,
  type Signal,
  type VerifyToken,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { endStream, Frames, frameTypes } from '../support/frames.js';
import { chunk, lastChunk, listen, observed, raw, Wire, type WireAnswer } from '../support/sockets.js';

const token = 'Authorization: Bearer good';
const json = 'Content-Type: application/json';
const rose = '{"id":1,"name":"Rosa canina"}';
const roseCreated = { status: 200, text: '{"name":"Rosa canina"}' };

const fields = {
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': '/plants',
  authorization: 'Bearer good',
  'content-type': 'application/json',
};

/** A server with this store alone, whatever becomes of its requests, and what it has stored. */
async function start({
  serve = (listener) => createServer(listener),
  options = {},
  plants = new Map<bigint, NewPlant>(),
  storage = memoryStorage(plants),
  verifyToken = (given) => given === 'good',
}: {
  serve?: (listener: ReturnType<typeof toNode>) => Server;
  options?: PlantStoreOptions;
  plants?: Map<bigint, NewPlant>;
  storage?: PlantStorage;
  verifyToken?: VerifyToken<boolean>;
} = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error);
  };
  const calls = observed(createPlantStore(storage, verifyToken, { onError, ...options }));
  const { port, close } = await listen(serve(toNode(calls.handle)));
  onTestFinished(close);
  const open = async () => {
    const wire = await Wire.open(port);
    onTestFinished(() => wire.destroy());
    return wire;
  };
  return { port, plants, errors, calls, open };
}

const errorOf = ({ text }: Pick<WireAnswer, 'text'>) => JSON.parse(text).error;

describe('bodies on the wire', () => {
  test('a request that comes in one-byte writes', async () => {
    const { open, plants } = await start();
    const wire = await open();
    for (const byte of Buffer.from(raw([token, json], '{"id":1,"name":"ばら"}'))) {
      await wire.write(Buffer.of(byte));
    }
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"ばら"}' });
    expect(plants.get(1n)).toEqual({ id: 1n, name: 'ばら' });
  });

  test('a chunked body whose chunks split every character, with trailers', async () => {
    const { open, plants } = await start();
    const wire = await open();
    await wire.write(raw([token, json, 'Transfer-Encoding: chunked']));
    for (const byte of Buffer.from('{"id":1,"name":"Épine 🌹"}')) await wire.write(chunk(Buffer.of(byte)));
    await wire.write('0\r\nX-Trailer: authorization\r\n\r\n');
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"Épine 🌹"}' });
    expect(plants.get(1n)).toEqual({ id: 1n, name: 'Épine 🌹' });
  });

  test('a declared length over the limit is refused before a byte of the body came', async () => {
    const { open, calls } = await start({ options: { bodyLimit: 100 } });
    const wire = await open();
    await wire.write(raw([token, json, 'Content-Length: 101']));
    const answer = await wire.answer();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(40006);
    const { request } = await calls.next();
    expect(request.raw).toHaveProperty('readableDidRead', false);
  });

  test('a chunked body over the limit is refused while the client still writes', async () => {
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
    'a client that %s within the body: the call settles, nothing is stored, nobody is told',
    async (_how, leave) => {
      const { open, plants, errors, calls } = await start();
      const wire = await open();
      // A whole plant, but not a whole body: it must not pass for one.
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
    'an app on %s that destroys the request within the body, with %s: the call settles',
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

  test('an upload that stalls is body_incomplete at the deadline, and the connection is cut', async () => {
    const { open, plants, errors } = await start({ options: { timeoutMs: 50 } });
    const wire = await open();
    await wire.write(raw([token, json, 'Content-Length: 1000']));
    await wire.write(rose);
    const answer = await wire.answer();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(40007);
    await wire.closed;
    expect(plants.size).toBe(0);
    expect(errors).toEqual([]);
  });
});

describe('after a refusal', () => {
  const refused = raw(['Authorization: Bearer bad', json], rose);
  const good = raw([token, json], rose);

  test('a connection carries on: 401, then a good request', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(refused);
    expect((await wire.answer()).status).toBe(401);
    await wire.write(good);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test('pipelined requests are answered in order, a refused upload in their midst', async () => {
    const { open } = await start();
    const wire = await open();
    const other = raw([token, json], '{"id":2,"name":"second"}');
    await wire.write(good + refused + raw([], '', { line: 'GET /trees HTTP/1.1' }) + other);
    expect(await wire.answer()).toMatchObject(roseCreated);
    expect((await wire.answer()).status).toBe(401);
    expect((await wire.answer()).status).toBe(404);
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"second"}' });
  });

  test('a refused upload that is still under way is drained, and then a good request is answered', async () => {
    const { open, plants } = await start();
    const wire = await open();
    const size = 8 * 2 ** 20;
    await wire.write(raw(['Authorization: Bearer bad', json, `Content-Length: ${size}`]));
    expect((await wire.answer()).status).toBe(401);
    expect(await wire.write(Buffer.alloc(size))).toBe(true);
    await wire.write(good);
    expect(await wire.answer()).toMatchObject(roseCreated);
    expect(plants.size).toBe(1);
  });

  test('a client that writes 48 MiB before it reads gets its answer', async () => {
    const { open } = await start();
    const wire = await open();
    wire.pause();
    const size = 48 * 2 ** 20;
    await wire.write(raw(['Authorization: Bearer bad', json, `Content-Length: ${size}`]));
    expect(await wire.write(Buffer.alloc(size))).toBe(true);
    wire.resume();
    const answer = await wire.answer();
    expect(errorOf(answer)).toBe(40102);
  });

  test.each([
    ['refused for its token', 'Authorization: Bearer bad'],
    ['refused for its size', token],
  ])('an upload %s is cut after 64 MiB', async (_what, authorization) => {
    const { open } = await start();
    const wire = await open();
    const mebibyte = Buffer.alloc(2 ** 20, 0x20);
    await wire.write(raw([authorization, json, 'Transfer-Encoding: chunked']));
    let written = 0;
    while (written < 512 && (await wire.write(chunk(mebibyte)))) written++;
    await wire.closed;
    // What the kernels keep in their buffers comes on top.
    expect(written).toBeGreaterThanOrEqual(64);
    expect(written).toBeLessThan(128);
  });

  test('an upload that makes no progress for 500 ms is cut', async () => {
    const { open } = await start();
    const wire = await open();
    const begun = performance.now();
    await wire.write(raw(['Authorization: Bearer bad', json, 'Content-Length: 1000']));
    expect((await wire.answer()).status).toBe(401);
    await wire.closed;
    expect(performance.now() - begun).toBeGreaterThan(490);
  });
});

describe.each([
  ['node:http', (listener: ReturnType<typeof toNode>) => createServer(listener) as Server],
  ['node:http2', (listener: ReturnType<typeof toNode>) => http2Server(listener) as Server],
])('the signal of a request on %s', (name, serve) => {
  async function post(port: number): Promise<{ leave: () => void; answered: () => Promise<unknown> }> {
    if (name === 'node:http') {
      const wire = await Wire.open(port);
      await wire.write(raw([token, json], rose));
      return { leave: () => wire.destroy(), answered: () => wire.answer() };
    }
    const frames = await Frames.open(port);
    frames.headers(1, fields);
    frames.data(1, rose, endStream);
    return {
      leave: () => frames.reset(1, constants.NGHTTP2_CANCEL),
      answered: () => frames.next(frameTypes.data, 1),
    };
  }

  test('fires when the client leaves; the AbortError of the storage is told to nobody', async () => {
    let begin: () => void;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const storage: PlantStorage = {
      create: (_plant, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          begin();
        }),
    };
    const { port, errors, calls } = await start({ serve, storage });
    const { leave } = await post(port);
    await begun;
    leave();
    const { response } = await calls.next();
    expect(errorOf({ text: (await response).body })).toBe(50001);
    expect(errors).toEqual([]);
  });

  test('that is first read after the client left has fired already', async () => {
    let decide!: (accepted: boolean) => void;
    const decision = new Promise<boolean>((resolve) => {
      decide = resolve;
    });
    let aborted: boolean | undefined;
    const verifyToken: VerifyToken<boolean> = async (_token, context) => {
      await decision;
      aborted = context.signal.aborted;
      return true;
    };
    const { port, calls } = await start({ serve, verifyToken });
    const { leave } = await post(port);
    const { request, response } = await calls.next();
    // Not by `once`, which would listen to its error too.
    const closed = new Promise((resolve) => (request.raw as IncomingMessage).on('close', resolve));
    leave();
    await closed;
    decide(true);
    await response;
    expect(aborted).toBe(true);
  });

  test('does not fire once the request is answered, although the connection closes', async () => {
    const signals: Signal[] = [];
    let closed: Promise<unknown> | undefined;
    const storage: PlantStorage = {
      async create(_plant, { signal, request }) {
        signals.push(signal, request.signal!);
        const incoming = request.raw as IncomingMessage;
        // The connection of HTTP/2 is shared: there the stream closes.
        closed = once(name === 'node:http' ? incoming.socket : incoming, 'close');
        return 'created';
      },
    };
    const { port } = await start({ serve, storage });
    const { leave, answered } = await post(port);
    await answered();
    leave();
    await closed;
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
  });
});

describe('a client that leaves while the verifier is at work: nothing is stored, nobody is told', () => {
  const http1 = async (port: number, body: string) => {
    const wire = await Wire.open(port);
    await wire.write(raw([token, json, `Content-Length: ${rose.length}`], body));
    return wire;
  };
  const http2 = async (port: number, body: string) => {
    const frames = await Frames.open(port);
    frames.headers(1, fields);
    frames.data(1, body, body === rose ? endStream : 0);
    return frames;
  };
  const plain = (listener: ReturnType<typeof toNode>) => createServer(listener) as Server;
  const framed = (listener: ReturnType<typeof toNode>) => http2Server(listener) as Server;
  const resetWith = (code: number) => async (port: number, body: string) => {
    const frames = await http2(port, body);
    return () => frames.reset(1, code);
  };
  const ways = [
    [
      'node:http, closed',
      plain,
      async (...to: [number, string]) => http1(...to).then((wire) => () => wire.destroy()),
    ],
    [
      'node:http, reset',
      plain,
      async (...to: [number, string]) => http1(...to).then((wire) => () => wire.reset()),
    ],
    ['node:http2, CANCEL', framed, resetWith(constants.NGHTTP2_CANCEL)],
    ['node:http2, NO_ERROR', framed, resetWith(constants.NGHTTP2_NO_ERROR)],
    ['node:http2, INTERNAL_ERROR', framed, resetWith(constants.NGHTTP2_INTERNAL_ERROR)],
    [
      'node:http2, connection closed',
      framed,
      async (...to: [number, string]) => http2(...to).then((frames) => () => frames.destroy()),
    ],
  ] as const;
  const parts = [
    ['half a body', rose.slice(0, 12)],
    ['a whole one', rose],
  ] as const;

  test.each(ways.flatMap((way) => parts.map((part) => [...way, ...part] as const)))(
    '$0, $3',
    async (_how, serve, begin, _part, body) => {
      let decide!: (accepted: boolean) => void;
      const decision = new Promise<boolean>((resolve) => {
        decide = resolve;
      });
      const { port, plants, errors, calls } = await start({ serve, verifyToken: () => decision });
      const leave = await begin(port, body);
      const { request, response } = await calls.next();
      const gone = once(request.signal!, 'abort');
      leave();
      await gone;
      decide(true);
      expect(errorOf({ text: (await response).body })).toBe(40007);
      expect(plants.size).toBe(0);
      expect(errors).toEqual([]);
    },
  );
});

describe('headers and targets that only a raw socket can send', () => {
  test.each([
    ['the same one twice', [token, token]],
    ['a good one and a bad one', [token, 'Authorization: Bearer bad']],
    ['two spellings of the name', ['AUTHORIZATION: Basic eDp5', 'authorization: Bearer good']],
  ])('two Authorization headers are token_invalid: %s', async (_what, headers) => {
    const { open, plants } = await start();
    const wire = await open();
    await wire.write(raw([...headers, json], rose));
    const answer = await wire.answer();
    expect(errorOf(answer)).toBe(40102);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="plants", error="invalid_token"');
    expect(plants.size).toBe(0);
  });

  test('white space around a header value is not part of it', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw(['Authorization: \t Bearer good \t', 'content-type:application/json'], rose));
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test.each([
    ['absolute-form', 'POST http://localhost/plants HTTP/1.1', 200],
    ['absolute-form with a query', 'POST http://user@[::1]:80/plants?x=/y HTTP/1.1', 200],
    ['origin-form with a query', 'POST /plants?a=b&c HTTP/1.1', 200],
    ['a query that holds slashes and question marks', 'POST /plants?/plants?/ HTTP/1.1', 200],
    ['absolute-form of another path', 'POST http://localhost/plants/plants HTTP/1.1', 404],
    ['absolute-form without a path', 'POST http://localhost HTTP/1.1', 404],
    ['an authority that is called plants', 'POST http://plants HTTP/1.1', 404],
    ['network-path reference', 'POST //localhost/plants HTTP/1.1', 404],
    ['dot segments', 'POST /x/../plants HTTP/1.1', 404],
    ['a dot segment', 'POST /./plants HTTP/1.1', 404],
    ['a slash at the end', 'POST /plants/ HTTP/1.1', 404],
    ['two slashes', 'POST //plants HTTP/1.1', 404],
    ['another case', 'POST /Plants HTTP/1.1', 404],
    ['a longer name', 'POST /plantsX HTTP/1.1', 404],
    ['a percent-encoded letter', 'POST /%70lants HTTP/1.1', 404],
    ['asterisk-form', 'OPTIONS * HTTP/1.1', 404],
    ['OPTIONS', 'OPTIONS /plants HTTP/1.1', 405],
    ['GET with a body', 'GET /plants HTTP/1.1', 405],
    ['a method of WebDAV', 'PROPFIND /plants HTTP/1.1', 405],
  ])('%s: %s is %i', async (_what, line, status) => {
    const { open, plants } = await start();
    const wire = await open();
    await wire.write(raw([token, json], rose, { line }));
    expect((await wire.answer()).status).toBe(status);
    expect(plants.size).toBe(status === 200 ? 1 : 0);
  });

  test('an answer to HEAD has no body, so the next answer is not mistaken for it', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw([], '', { line: 'HEAD /plants HTTP/1.1' }) + raw([token, json], rose));
    expect((await wire.answer({ bodyless: true })).status).toBe(405);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test('HTTP/1.0 is answered, and closed', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw([token, json], rose, { line: 'POST /plants HTTP/1.0' }));
    expect(await wire.answer()).toMatchObject(roseCreated);
    await wire.closed;
  });
});

describe('Expect: 100-continue', () => {
  const expectation = 'Expect: 100-continue';
  /** As the evaluation server does: the listener takes those requests too, and decides when to send the 100. */
  const serve = (listener: RequestListener) => createServer(listener).on('checkContinue', listener);

  test.each([
    ['under a checkContinue listener', serve],
    ['where Node answers it', (listener: RequestListener) => createServer(listener)],
  ])('exactly one 100, %s', async (_where, how) => {
    const { open } = await start({ serve: how });
    const wire = await open();
    await wire.write(raw([token, json, expectation, `Content-Length: ${rose.length}`]));
    expect((await wire.answer()).status).toBe(100);
    await wire.write(rose);
    expect(await wire.answer()).toMatchObject(roseCreated);
    expect(wire.rest).toBe('');
  });

  test.each([
    ['for a refused token', ['Authorization: Bearer bad', json, 'Content-Length: 10'], 401],
    ['for a declared length over the limit', [token, json, `Content-Length: ${2 ** 20 + 1}`], 400],
    ['for another media type', [token, 'Content-Type: text/plain', 'Content-Length: 10'], 400],
  ])('no 100 %s', async (_what, headers, status) => {
    const { open } = await start({ serve });
    const wire = await open();
    await wire.write(raw([...headers, expectation]));
    expect((await wire.answer()).status).toBe(status);
  });

  test('a client that does not wait for the 100 is served all the same', async () => {
    const { open } = await start({ serve });
    const wire = await open();
    await wire.write(raw([token, json, expectation], rose));
    expect((await wire.answer()).status).toBe(100);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });
});

describe('HTTP/2', () => {
  const serve = (listener: ReturnType<typeof toNode>) => http2Server(listener);
  const refusedFields = { ...fields, authorization: 'Bearer bad' };

  async function startHttp2(options: PlantStoreOptions = {}) {
    const started = await start({ serve, options });
    const frames = await Frames.open(started.port);
    onTestFinished(() => frames.destroy());
    return { ...started, frames };
  }

  async function dataOf(frames: Frames, stream: number): Promise<string> {
    return (await frames.next(frameTypes.data, stream)).payload.toString();
  }

  test('an answer has no header that HTTP/2 forbids', async () => {
    const { port } = await start({ serve });
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request(fields);
    stream.end(rose);
    const [headers] = await once(stream, 'response');
    expect(Object.keys(headers).sort()).toEqual([':status', 'content-length', 'content-type', 'date']);
  });

  test('refused uploads do not eat the window of the connection', async () => {
    const { port, plants } = await start({ serve });
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const send = async (headers: OutgoingHttpHeaders, body: string | Uint8Array) => {
      const stream = session.request(headers);
      stream.end(body);
      const chunks: Buffer[] = [];
      for await (const data of stream) chunks.push(data);
      return Buffer.concat(chunks).toString();
    };
    for (let i = 0; i < 8; i++) {
      expect(errorOf({ text: await send(refusedFields, new Uint8Array(2 ** 20)) })).toBe(40102);
    }
    // Eight windows long, so that it arrives only if the window was given back.
    expect(await send(fields, rose.padEnd(2 ** 19))).toBe(roseCreated.text);
    expect(plants.size).toBe(1);
  });

  test('a refused upload is answered whole, then reset with NO_ERROR; the next stream is served', async () => {
    const { frames, calls } = await startHttp2();
    frames.headers(1, refusedFields);
    frames.data(1, Buffer.alloc(16_384));
    const { request } = await calls.next();
    const closed = once((request.raw as Http2ServerRequest).stream, 'close');
    expect(errorOf({ text: await dataOf(frames, 1) })).toBe(40102);
    const { payload } = await frames.next(frameTypes.resetStream, 1);
    expect(payload.readUInt32BE()).toBe(constants.NGHTTP2_NO_ERROR);
    await closed;
    frames.headers(3, fields);
    frames.data(3, rose, endStream);
    expect(await dataOf(frames, 3)).toBe(roseCreated.text);
  });

  test('an oversized declared length is refused unread', async () => {
    const { frames, calls } = await startHttp2({ bodyLimit: 100 });
    frames.headers(1, { ...fields, 'content-length': '101' });
    expect(errorOf({ text: await dataOf(frames, 1) })).toBe(40006);
    expect((await calls.next()).request.raw).toHaveProperty('readableDidRead', false);
  });

  test('an upload over the limit is refused while the client still writes, and its stream is let go', async () => {
    const { frames, plants, calls } = await startHttp2({ bodyLimit: 100 });
    frames.headers(1, fields);
    const { request } = await calls.next();
    const closed = once((request.raw as Http2ServerRequest).stream, 'close');
    for (let i = 0; i < 3; i++) frames.data(1, rose.padEnd(101));
    expect(errorOf({ text: await dataOf(frames, 1) })).toBe(40006);
    // Although it was paused with something in it that nobody takes.
    await closed;
    expect(plants.size).toBe(0);
  });

  test.each([
    ['nothing', ''],
    ['a whole plant', rose],
    ['half a plant', rose.slice(0, 12)],
  ])('a body that was aborted after %s is neither empty nor complete', async (_what, part) => {
    const { frames, plants, errors, calls } = await startHttp2();
    frames.headers(1, fields);
    const { response } = await calls.next();
    if (part) frames.data(1, part);
    frames.reset(1, constants.NGHTTP2_CANCEL);
    expect(errorOf({ text: (await response).body })).toBe(40007);
    expect(plants.size).toBe(0);
    expect(errors).toEqual([]);
    frames.headers(3, fields);
    frames.data(3, rose, endStream);
    expect(await dataOf(frames, 3)).toBe(roseCreated.text);
  });

  test('a body that was aborted before anybody looked at it is neither empty nor complete', async () => {
    const { frames, plants, calls } = await startHttp2();
    frames.headers(1, fields);
    frames.data(1, rose);
    frames.reset(1, constants.NGHTTP2_CANCEL);
    expect(errorOf({ text: (await (await calls.next()).response).body })).toBe(40007);
    expect(plants.size).toBe(0);
  });

  test('a connection that is cut settles every call on it', async () => {
    const { frames, plants, errors, calls } = await startHttp2();
    for (const stream of [1, 3]) {
      frames.headers(stream, fields);
      frames.data(stream, rose);
    }
    const responses = [(await calls.next()).response, (await calls.next()).response];
    frames.destroy();
    for (const response of responses) expect(errorOf({ text: (await response).body })).toBe(40007);
    expect(plants.size).toBe(0);
    expect(errors).toEqual([]);
  });

  test('Expect: 100-continue under a checkContinue listener: one 100, none for a refused token', async () => {
    const { port } = await start({ serve: (listener) => serve(listener).on('checkContinue', listener) });
    const frames = await Frames.open(port);
    onTestFinished(() => frames.destroy());
    const headers = (stream: number) =>
      frames.frames.filter((frame) => frame.type === frameTypes.headers && frame.stream === stream).length;

    frames.headers(1, { ...refusedFields, expect: '100-continue' });
    expect(errorOf({ text: await dataOf(frames, 1) })).toBe(40102);
    expect(headers(1)).toBe(1);

    frames.headers(3, { ...fields, expect: '100-continue' });
    await frames.next(frameTypes.headers, 3);
    frames.data(3, rose, endStream);
    expect(await dataOf(frames, 3)).toBe(roseCreated.text);
    expect(headers(3)).toBe(2);
  });
});
