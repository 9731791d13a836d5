// The default of onError: what an operator reads first when a request fails.
import {
  BodyError,
  createPlantStore,
  guard,
  type PlantRequest,
  RolledBack,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import fc, { anyUnit } from '../support/properties.js';

const request: PlantRequest = {
  method: 'POST',
  url: '/plants?access=secret',
  headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
  body: '{"id":1,"name":"Rosa canina"}',
};

let lines: string[] = [];
let hour = 0;
beforeEach(() => {
  // An hour apart, so that no test is in the same second as another.
  vi.useFakeTimers({ toFake: ['Date'], now: ++hour * 3_600_000 });
  vi.spyOn(console, 'error').mockImplementation((...given) => {
    expect(given).toEqual([expect.any(String)]);
    lines.push(...String(given).split('\n'));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  lines = [];
});

const rejecting = (thrown: unknown) => ({ create: () => Promise.reject(thrown) });
const throwing =
  (thrown: unknown): VerifyToken<true> =>
  () => {
    throw thrown;
  };
const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

describe('without onError, one line explains', () => {
  const unavailable = (cause: Error) => new StorageBusy('the storage is unavailable', { cause });
  // As Node rejects if no address of a host accepts.
  const ofNode = new AggregateError([], '', {
    cause: coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'),
  });

  test.each<[string, unknown, string]>([
    ['a full queue', new StorageBusy(), '50301 busy, POST /plants: the storage queue is full'],
    [
      'an outage, with its cause',
      unavailable(coded('ECONNREFUSED', 'connect ECONNREFUSED')),
      '50301 busy, POST /plants: the storage is unavailable: connect ECONNREFUSED',
    ],
    [
      'an error without a message by its code and its cause',
      unavailable(Object.assign(ofNode, { code: 'ECONNREFUSED' })),
      '50301 busy, POST /plants: the storage is unavailable: ECONNREFUSED: connect ECONNREFUSED ::1:5432',
    ],
    [
      'a rejected plant, without quoting the cause twice',
      new RolledBack('apart', coded('42P01', 'relation "plants" does not exist')),
      '50004 storage_rejected, POST /plants: relation "plants" does not exist',
    ],
    [
      'an error of a driver, without its properties',
      Object.assign(coded('08006', 'Connection terminated'), { sql: "INSERT 'Rosa'", parameters: ['Rosa'] }),
      '50001 storage_failed, POST /plants: Connection terminated',
    ],
    ['a timeout', named('TimeoutError', 'no reply'), '50001 storage_failed, POST /plants: no reply'],
    ['a thrown string', 'full', '50001 storage_failed, POST /plants: full'],
    [
      'the first 1 000 characters',
      'x'.repeat(2_000),
      `50001 storage_failed, POST /plants: ${'x'.repeat(951)} …`,
    ],
    ['nothing that was thrown', undefined, '50001 storage_failed, POST /plants: undefined'],
    ['a thrown object', {}, '50001 storage_failed, POST /plants: an object was thrown'],
  ])('%s', async (_what, thrown, line) => {
    await createPlantStore(rejecting(thrown), () => true)(request);
    expect(lines).toEqual([`plant-store: ${line}`]);
  });

  test('a body that was consumed, with the line of the app to move', async () => {
    const body = throwing(new BodyError('body_unreadable', 'mount plant-store first')) as never;
    await createPlantStore(rejecting(0), () => true)({ ...request, body });
    expect(lines).toEqual(['plant-store: 50003 body_unreadable, POST /plants: mount plant-store first']);
  });

  test.each([
    ['jsonwebtoken', 'JsonWebTokenError', undefined],
    ['jose', 'JWTExpired', 'ERR_JWT_EXPIRED'],
  ])('an error of %s for an invalid token, with the remedy', async (_library, name, code) => {
    const verifyToken = throwing(Object.assign(named(name, 'no good'), { code }));
    await createPlantStore(rejecting(0), verifyToken)(request);
    expect(lines[0]).toBe(
      `plant-store: 50002 verification_failed, POST /plants: ${name}: no good. verifyToken must return null for an invalid token, and throw only if it could not check the token`,
    );
  });

  test('a guarded route by its own method and path', async () => {
    const handle = guard(() => true, throwing(new StorageBusy()) as never);
    await handle({ ...request, method: 'GET', url: 'http://localhost/plants/7?x' });
    expect(lines).toEqual(['plant-store: 50301 busy, GET /plants/7: the storage queue is full']);
  });

  test('an error that nobody expected, and its stack', async () => {
    await createPlantStore(rejecting(new TypeError('x is no\nfunction')), () => true)(request);
    const [line, ...frames] = lines;
    expect(line).toBe('plant-store: 50001 storage_failed, POST /plants: TypeError: x is no%0Afunction');
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.filter((frame) => !/^ {4}at /.test(frame))).toEqual([]);
  });
});

test('an outage is one line a second, with the count of the others; other errors are written meanwhile', async () => {
  const busy = createPlantStore(rejecting(new StorageBusy('down')), () => true);
  const slow = createPlantStore(rejecting(0), throwing(named('TimeoutError', 'slow')));
  await Promise.all(Array.from({ length: 1_171 }, () => busy(request)));
  await slow(request);
  await createPlantStore(rejecting('other'), () => true)(request);
  expect(lines).toEqual([
    'plant-store: 50301 busy, POST /plants: down',
    'plant-store: 50001 storage_failed, POST /plants: other',
  ]);
  vi.setSystemTime(Date.now() + 1_000);
  await busy(request);
  await busy(request);
  // A clock that is set back does not silence it.
  vi.setSystemTime(Date.now() - 3_600_000);
  await busy(request);
  expect(lines.slice(2)).toEqual([
    'plant-store: 50301 busy, POST /plants: down (1171 more)',
    'plant-store: 50301 busy, POST /plants: down (1 more)',
  ]);
});

const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\n', '\r', '\u001b', '\u0085', '\u2028', '\u2029', '\u202e', '\u2066', '\u200f'),
    fc.constantFrom('\n    at ', 'plant-store: ', '\n'),
    anyUnit.map((unit) => String.fromCharCode(unit)),
  ),
});

test("no line of the default begins with a client's text, and none holds a control or bidirectional mark", async () => {
  const arbitrary = fc.record({ message: text, name: text, code: text, cause: text, url: text });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ message, name, code, cause, url }) => {
      lines = [];
      const error = new Error(message, { cause: new Error(cause) });
      Object.assign(error, { name, ...(code && { code }) });
      await guard(() => true, throwing(error) as never)({ ...request, url });
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => !/^(plant-store: \d{5} | {4}at )/.test(line))).toEqual([]);
      expect(lines.filter((line) => unprintable.test(line) || line.length > 1_002)).toEqual([]);
      const frames = lines.slice(1).join('\n');
      if (message.trim().length > 20) expect(frames).not.toContain(message.trim());
    }),
  );
});
