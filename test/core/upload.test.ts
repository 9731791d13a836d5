// The remaining body of a rejected upload is drained in the background, after the response.
import { createPlantStore, type PlantRequest } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test, vi } from 'vitest';
import { deferred } from '../support/deferred.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { waitFor } from '../support/wait-for.js';

// However slow the machine is, no request times out, and no drain with it.
const handle = createPlantStore(memoryStorage(), () => true, { bodyLimit: 100, timeoutMs: 2 ** 31 - 1 });
const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };

const ofNode = { pipe() {} };
const ofTheWeb = { getReader() {} };

/** A connection's stream, as its method shows, which gives what `next` does and counts. */
function streamOf(next: (asked: number) => unknown, close: () => unknown = () => {}, kind: object = ofNode) {
  let asked = 0;
  const closed = vi.fn(close);
  const iterator = {
    next: async () => {
      const value = await next(++asked);
      return { done: value === undefined, value };
    },
    return: closed,
  };
  const body = { ...kind, [Symbol.asyncIterator]: () => iterator } as unknown as PlantRequest['body'];
  return { body, closed, asked: () => asked };
}

const errorOf = async (body: PlantRequest['body']) =>
  JSON.parse((await handle({ method: 'POST', url: '/plants', headers, body })).body).error;

/** Larger than the limit by itself. */
const chunk = new Uint8Array(2 ** 20);

describe('a rejected upload', () => {
  test.each([
    ['of Node', ofNode],
    ['of the web', ofTheWeb],
  ])('%s is read to its end after the response, and is not stopped', async (_, kind) => {
    const { body, closed, asked } = streamOf((count) => (count <= 12 ? chunk : undefined), undefined, kind);
    expect(await errorOf(body)).toBe(40006);
    await waitFor(() => expect(asked()).toBe(13));
    await new Promise((resolve) => setImmediate(resolve));
    expect([asked(), closed.mock.calls.length]).toEqual([13, 0]);
  });

  test('is read one chunk an iteration of the event loop, so that other clients are served meanwhile', async () => {
    let turns = 0;
    let turning = setImmediate(function turn() {
      turns++;
      turning = setImmediate(turn);
    });
    const turnsBefore: number[] = [];
    const { body } = streamOf((count) => {
      turnsBefore.push(turns);
      return count <= 12 ? chunk : undefined;
    });
    expect(await errorOf(body)).toBe(40006);
    await waitFor(() => expect(turnsBefore).toHaveLength(13));
    clearImmediate(turning);
    // The first chunk was read for the plant, and the loop may come to the third before it comes to an immediate.
    expect(turnsBefore.at(-1)! - turnsBefore[2]!).toBeGreaterThanOrEqual(10);
  });

  test('is one of a hundred: few of them are read in an iteration of the event loop', async () => {
    let turns = 0;
    let turning = setImmediate(function turn() {
      turns++;
      turning = setImmediate(turn);
    });
    const readsByTurn = new Map<number, number>();
    const uploads = Array.from({ length: 100 }, () =>
      streamOf((count) => {
        // The first is read for the plant, and the second before the upload waits for its turn.
        if (count > 2) readsByTurn.set(turns, (readsByTurn.get(turns) ?? 0) + 1);
        return count <= 6 ? chunk : undefined;
      }),
    );
    await Promise.all(uploads.map(({ body }) => errorOf(body)));
    await waitFor(() => expect(uploads.every(({ asked }) => asked() === 7)).toBe(true));
    clearImmediate(turning);
    // The loop may come to a second channel before it comes to an immediate.
    expect(Math.max(...readsByTurn.values())).toBeLessThanOrEqual(10);
  });

  test.each([
    ['of large chunks', chunk, 1],
    ['of 2 KiB chunks', new Uint8Array(2 ** 11), 2 ** 9],
    ['of empty chunks, which count as 1 KiB', new Uint8Array(0), 2 ** 10],
  ])('%s without end is stopped, once, after 16 MiB', async (_, rest, count) => {
    // The first is read for the plant; 15 MiB are discarded before the chunks in question.
    const large = 16;
    const expected = large + count;
    const { body, closed, asked } = streamOf((nth) => (nth <= large ? chunk : rest));
    expect(await errorOf(body)).toBe(40006);
    await waitFor(() => expect(closed).toHaveBeenCalled());
    expect(closed).toHaveBeenCalledTimes(1);
    expect(asked()).toBeGreaterThanOrEqual(expected);
    expect(asked()).toBeLessThanOrEqual(expected + 2);
  });

  test('is stopped after half a second without progress', async () => {
    const clock = fakeTimeouts();
    const chunks = Array.from({ length: 4 }, () => deferred<Uint8Array>());
    const { body, closed, asked } = streamOf((count) =>
      count === 1 ? chunk : (chunks[count - 2]?.promise ?? new Promise(() => {})),
    );
    expect(await errorOf(body)).toBe(40006);
    for (const [i, { resolve }] of chunks.entries()) {
      await clock.pass(450);
      resolve(chunk);
      while (asked() < i + 3) {
        expect(closed).not.toHaveBeenCalled();
        await clock.pass(0);
      }
    }
    await clock.pass(499);
    expect(closed).not.toHaveBeenCalled();
    await clock.pass(101);
    expect(closed).toHaveBeenCalledTimes(1);
    expect(asked()).toBe(6);
  });

  test('may fail: it is not read again, and no rejection is unhandled', async () => {
    const { body, closed, asked } = streamOf((count) =>
      count < 3 ? chunk : Promise.reject(new Error('gone')),
    );
    expect(await errorOf(body)).toBe(40006);
    await waitFor(() => expect(asked()).toBe(3));
    await new Promise((resolve) => setImmediate(resolve));
    expect([asked(), closed.mock.calls.length]).toEqual([3, 0]);
  });

  const broken = () => {
    throw new Error('broken');
  };
  test.each<[string, () => unknown]>([
    ['throws', broken],
    ['rejects', async () => broken()],
  ])('whose return %s does no harm', async (_, close) => {
    const { body, closed } = streamOf(() => new Uint8Array(2 ** 25), close);
    expect(await errorOf(body)).toBe(40006);
    await waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
  });

  test('that timed out and is no connection is not read further, even without a return', async () => {
    const clock = fakeTimeouts();
    let give: (value: unknown) => void = () => {};
    const next = vi.fn(() => new Promise((resolve) => (give = resolve)));
    const body = { [Symbol.asyncIterator]: () => ({ next }) } as never;
    const responding = handle({ method: 'POST', url: '/plants', headers, body });
    await clock.expire();
    expect((await responding).status).toBe(400);
    give({ done: false, value: new Uint8Array(1) });
    await new Promise((resolve) => setImmediate(resolve));
    expect(next).toHaveBeenCalledTimes(1);
  });
});

test.each([
  ['an async iterable', (chunks: AsyncIterable<Uint8Array>) => chunks],
  ['a connection', (chunks: AsyncIterable<Uint8Array>) => Object.assign(chunks, { pipe() {} })],
])('%s of endless empty chunks is rejected at its timeout, and blocks nobody meanwhile', async (_, made) => {
  const clock = fakeTimeouts();
  async function* empty() {
    for (;;) yield new Uint8Array(0);
  }
  const error = errorOf(made(empty()));
  await clock.expire();
  expect(await error).toBe(40007);
});
