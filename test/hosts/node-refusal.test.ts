// After a refusal: what happens to the upload and to the connection.
import { describe, expect, test } from 'vitest';
import { chunk, raw } from '../support/sockets.js';
import { errorOf, json, rose, roseCreated, start, token } from './node-server.js';

describe('after a refusal', () => {
  const refused = raw(['Authorization: Bearer bad', json], rose);
  const good = raw([token, json], rose);

  test('a connection stays usable: 401, then a good request', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(refused);
    expect((await wire.answer()).status).toBe(401);
    await wire.write(good);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test('pipelined requests are answered in order, also with a refused upload among them', async () => {
    const { open } = await start();
    const wire = await open();
    const other = raw([token, json], '{"id":2,"name":"second"}');
    await wire.write(good + refused + raw([], '', { line: 'GET /trees HTTP/1.1' }) + other);
    expect(await wire.answer()).toMatchObject(roseCreated);
    expect((await wire.answer()).status).toBe(401);
    expect((await wire.answer()).status).toBe(404);
    expect(await wire.answer()).toMatchObject({ status: 200, text: '{"name":"second"}' });
  });

  test('a refused upload that still arrives is drained, then a good request is answered', async () => {
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
    // The kernels' buffers come on top.
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
