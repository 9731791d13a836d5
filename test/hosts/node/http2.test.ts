// HTTP/2: its windows, its resets, its informational responses.
import { once } from 'node:events';
import {
  connect,
  constants,
  type Http2ServerRequest,
  createServer as http2Server,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { text } from 'node:stream/consumers';
import { createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import type { toNode } from 'plant-store/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { endStream, Frames, frameTypes } from '../../support/frames.js';
import { mountOf } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { hosts } from '../hosts.js';
import { errorOf, fields, rose, roseCreated, start } from './server.js';

describe('HTTP/2', () => {
  const serve = (listener: ReturnType<typeof toNode>) => http2Server(listener);
  const refusedFields = { ...fields, authorization: 'Bearer bad' };

  async function startHttp2(on = serve) {
    const started = await start({ serve: on });
    const frames = await Frames.open(started.port);
    onTestFinished(() => frames.destroy());
    return { ...started, frames };
  }

  async function dataOf(frames: Frames, stream: number): Promise<string> {
    return (await frames.next(frameTypes.data, stream)).payload.toString();
  }

  test('rejected uploads do not use up the window of the connection', async () => {
    const { port, plants } = await start({ serve });
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const send = (headers: OutgoingHttpHeaders, body: string | Uint8Array) =>
      text(session.request(headers).end(body));
    for (let i = 0; i < 8; i++) {
      expect(errorOf({ text: await send(refusedFields, new Uint8Array(2 ** 20)) })).toBe(40102);
    }
    // Eight windows long: it arrives only if the refused uploads gave the window back.
    expect(await send(fields, rose.padEnd(2 ** 19))).toBe(roseCreated.text);
    expect(plants.size).toBe(1);
  });

  test('a rejected upload gets its complete response, then a reset with NO_ERROR; the next stream is served', async () => {
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

  test.each(named(hosts.filter(({ name }) => /http2|HTTP\/2, at the root/.test(name))))(
    "after forty rejected uploads on %s each of Node's own streams ends and closes, and so does the session",
    async (_, { start: startHost }) => {
      const running = await startHost(createPlantStore(memoryStorage(), () => false));
      onTestFinished(running.close);
      const { host } = new URL(running.url);
      const session = connect(`http://${host}`);
      onTestFinished(() => session.destroy());
      const path = `${mountOf(running.url)}/plants`;
      const closed = Array.from({ length: 40 }, async () => {
        const stream = session.request({ ...fields, ':path': path, ':authority': host });
        stream.write(Buffer.alloc(100_000));
        const [received] = await Promise.all([text(stream), once(stream, 'close')]);
        return [stream.readableEnded, stream.rstCode, errorOf({ text: received })];
      });
      expect(await Promise.all(closed)).toEqual(Array(40).fill([true, constants.NGHTTP2_NO_ERROR, 40102]));
      await new Promise<void>((resolve) => session.close(resolve));
    },
  );

  test('a body aborted before the request is handled is neither empty nor complete; the next stream is served', async () => {
    const { frames, plants, calls } = await startHttp2();
    frames.headers(1, fields);
    frames.data(1, rose);
    frames.reset(1, constants.NGHTTP2_CANCEL);
    expect(errorOf({ text: (await (await calls.next()).response).body })).toBe(40007);
    expect(plants.size).toBe(0);
    frames.headers(3, fields);
    frames.data(3, rose, endStream);
    expect(await dataOf(frames, 3)).toBe(roseCreated.text);
  });

  const onCheck: typeof serve = (listener) => serve(listener).on('checkContinue', listener);
  test.each([
    ['one 100 under a checkContinue listener', onCheck, fields, 2],
    ['one 100 if Node sends it', serve, fields, 2],
    ['none for a rejected token', onCheck, refusedFields, 1],
  ])('Expect: 100-continue gets %s', async (_what, on, given, heads) => {
    const { frames } = await startHttp2(on);
    frames.headers(1, { ...given, expect: '100-continue' });
    if (heads === 2) {
      await frames.next(frameTypes.headers, 1);
      frames.data(1, rose, endStream);
    }
    const data = await dataOf(frames, 1);
    expect(heads === 2 ? data : errorOf({ text: data })).toBe(heads === 2 ? roseCreated.text : 40102);
    expect(frames.frames.filter(({ type }) => type === frameTypes.headers)).toHaveLength(heads);
  });
});
