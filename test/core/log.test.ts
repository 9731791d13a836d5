// The default of onError: what an operator reads first when a request fails.
import {
  BodyError,
  createPlantStore,
  guard,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  RolledBack,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ErrorLog } from '../../src/log.js';
import { SimulatedClock } from '../support/clock.js';
import fc, { anyUnit } from '../support/properties.js';

const request: PlantRequest = {
  method: 'POST',
  url: '/plants?access=secret',
  headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
  body: '{"id":1,"name":"Rosa canina"}',
};

let lines: string[];
let clock: SimulatedClock;
let onError: NonNullable<PlantStoreOptions['onError']>;
beforeEach(() => {
  lines = [];
  clock = new SimulatedClock();
  const log = new ErrorLog((text) => void lines.push(...text.split('\n')), clock);
  onError = (error, request, code) => log.log(error, request, code);
});

const rejecting = (thrown: unknown) => ({ create: () => Promise.reject(thrown) });
const storeOf = (storage: PlantStorage, verifyToken: VerifyToken<true> = () => true) =>
  createPlantStore(storage, verifyToken, { onError });
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
      new RolledBack('rejected', coded('42P01', 'relation "plants" does not exist')),
      '50004 storage_rejected, POST /plants: relation "plants" does not exist',
    ],
    [
      'an error of a driver, without its properties',
      Object.assign(coded('08006', 'Connection terminated'), { sql: "INSERT 'Rosa'", parameters: ['Rosa'] }),
      '50001 storage_failed, POST /plants: Connection terminated',
    ],
    ['a timeout', named('TimeoutError', 'no reply'), '50001 storage_failed, POST /plants: no reply'],
    [
      'a thrown string, which may quote anybody',
      'full',
      '50001 storage_failed, POST /plants: a string was thrown',
    ],
    [
      'the first 1 000 characters',
      new Error('x'.repeat(2_000)),
      `50001 storage_failed, POST /plants: ${'x'.repeat(951)} …`,
    ],
    ['nothing that was thrown', undefined, '50001 storage_failed, POST /plants: undefined was thrown'],
    ['a thrown object', {}, '50001 storage_failed, POST /plants: an object was thrown'],
  ])('%s', async (_what, thrown, line) => {
    await storeOf(rejecting(thrown))(request);
    expect(lines).toEqual([`plant-store: ${line}`]);
  });

  test('a body that was consumed, with the line of the app to move', async () => {
    const body = throwing(new BodyError('body_unreadable', 'mount plant-store first')) as never;
    await storeOf(rejecting(0))({ ...request, body });
    expect(lines).toEqual(['plant-store: 50003 body_unreadable, POST /plants: mount plant-store first']);
  });

  const hint =
    '. verifyToken must return null for an invalid token, and throw only if it could not check the token';
  const unreachable = new TypeError('fetch failed', { cause: coded('ECONNREFUSED', 'connect ECONNREFUSED') });
  test.each<[string, unknown, string]>([
    ['jsonwebtoken', named('JsonWebTokenError', 'jwt malformed'), `jwt malformed${hint}`],
    ['jose', Object.assign(named('JWTExpired', 'expired'), { code: 'ERR_JWT_EXPIRED' }), `expired${hint}`],
    ['jose for an encrypted token', named('JWEInvalid', 'Invalid Compact JWE'), `Invalid Compact JWE${hint}`],
    ['fetch, whose service is away', unreachable, `fetch failed: connect ECONNREFUSED${hint}`],
    ['anybody', new Error('no good'), `no good${hint}`],
    ['nobody: a timeout', named('TimeoutError', 'timed out'), 'timed out'],
  ])('an error that verifyToken got from %s, with the remedy', async (_library, thrown, message) => {
    await storeOf(rejecting(0), throwing(thrown))(request);
    expect(lines).toEqual([`plant-store: 50002 verification_failed, POST /plants: ${message}`]);
  });

  test('a guarded route by its own method and path', async () => {
    const handle = guard(() => true, throwing(new StorageBusy()) as never, { onError });
    await handle({ ...request, method: 'GET', url: 'http://localhost/plants/7?x' });
    expect(lines).toEqual(['plant-store: 50301 busy, GET /plants/7: the storage queue is full']);
  });

  test.each<[string, unknown]>([
    ['itself', new TypeError('x is no\nfunction')],
    ['as the cause of another', new RolledBack('rejected', new TypeError('x is no\nfunction'))],
  ])('a fault of a program, %s, and its stack', async (_what, thrown) => {
    await storeOf(rejecting(thrown))(request);
    const [line, ...frames] = lines;
    expect(line).toMatch(/^plant-store: 5000[14] \w+, POST \/plants: TypeError: x is no%0Afunction$/);
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.filter((frame) => !/^ {4}at /.test(frame))).toEqual([]);
  });

  test('an error of no other kind has a stack, whatever its code', async () => {
    const errors = [new Error('the disk is full'), named('PoolError', 'no connection'), coded('X', 'x')];
    for (const error of errors) {
      await storeOf(rejecting(error))(request);
      await storeOf(rejecting(0), throwing(error))(request);
    }
    expect(lines).toHaveLength(6);
  });
});

test('the default writes to console.error', async () => {
  const write = vi.spyOn(console, 'error').mockImplementation(() => {});
  await createPlantStore(rejecting(new Error('the default')), () => true)(request);
  expect(write.mock.calls).toEqual([['plant-store: 50001 storage_failed, POST /plants: the default']]);
  write.mockRestore();
});

describe('a message that repeats', () => {
  const fail = async (message: string, times = 1) => {
    const handle = storeOf(rejecting(new StorageBusy(message)));
    for (let i = 0; i < times; i++) await handle(request);
  };
  const line = (message: string) => `plant-store: 50301 busy, POST /plants: ${message}`;

  test('is one line a second with a count of its own, and a last one when it is over', async () => {
    await fail('the queue is full', 1_171);
    await fail('something else');
    expect(lines.splice(0)).toEqual([line('the queue is full'), line('something else')]);
    await clock.advance(999);
    expect(lines).toEqual([]);
    await clock.advance(1);
    expect(lines.splice(0)).toEqual([`${line('the queue is full')} (1169 more)`]);
    await fail('the queue is full');
    await clock.advance(1_000);
    expect(lines.splice(0)).toEqual([line('the queue is full')]);
    await clock.advance(60_000);
    expect(lines).toEqual([]);
    expect(clock.timerCount).toBe(0);
    await fail('the queue is full');
    expect(lines).toEqual([line('the queue is full')]);
  });

  test('is written by the next error if its timer is gone, as on Workers', async () => {
    await fail('the queue is full', 3);
    clock.jump(1_000);
    await fail('the queue is full');
    expect(lines).toEqual([line('the queue is full'), `${line('the queue is full')} (2 more)`]);
  });

  test('takes no more memory, although clients cause ever new messages', async () => {
    for (let i = 0; i < 3_000; i++) await fail(`the row of id ${i} is locked`);
    expect(clock.timerCount).toBeLessThanOrEqual(1_001);
    await clock.advance(1_000);
    expect(errorsIn(lines)).toBe(3_000);
  });
});

/** How many errors these lines stand for. */
const errorsIn = (lines: readonly string[]) =>
  lines
    .filter((line) => line.startsWith('plant-store: '))
    .reduce((sum, line) => sum + 1 + Number(/ \((\d+) more\)$/.exec(line)?.[1] ?? 0), 0);

test('nothing disappears: over any incident, lines and counts add up to the 5xx responses', async () => {
  const causes = [
    new StorageBusy('the queue is full'),
    new StorageBusy('unavailable'),
    new RolledBack('rejected', new Error('a constraint')),
    new Error('unknown'),
    new TypeError('a fault'),
  ];
  const incident = fc.array(
    fc.oneof(
      fc.record({ cause: fc.constantFrom(...causes), times: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ passes: fc.integer({ min: 1, max: 3_000 }) }),
    ),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(incident, async (events) => {
      lines = [];
      const written: [line: string, at: number][] = [];
      const own = new SimulatedClock();
      const log = new ErrorLog((text) => {
        lines.push(...text.split('\n'));
        written.push([text.split('\n')[0]!.replace(/ \(\d+ more\)$/, ''), own.now()]);
      }, own);
      let errors = 0;
      for (const event of events) {
        if ('passes' in event) await own.advance(event.passes);
        else for (let i = 0; i < event.times; i++, errors++) log.log(event.cause, request, 50301);
      }
      await own.advance(1_000);
      expect(errorsIn(lines)).toBe(errors);
      const last = new Map<string, number>();
      for (const [line, at] of written) {
        expect(at - (last.get(line) ?? -1_000)).toBeGreaterThanOrEqual(1_000);
        last.set(line, at);
      }
    }),
  );
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
      await clock.advance(1_000);
      lines = [];
      const error = new Error(message, { cause: new Error(cause) });
      Object.assign(error, { name, ...(code && { code }) });
      await guard(() => true, throwing(error) as never, { onError })({ ...request, url });
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => !/^(plant-store: \d{5} | {4}at )/.test(line))).toEqual([]);
      expect(lines.filter((line) => unprintable.test(line) || line.length > 1_002)).toEqual([]);
      const frames = lines.slice(1).join('\n');
      if (message.trim().length > 20) expect(frames).not.toContain(message.trim());
    }),
  );
});
