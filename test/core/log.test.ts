// The default of onError: what an operator reads first when a request fails.
import {
  BodyError,
  createPlantStore,
  describeError,
  guard,
  logWithMessages,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  RolledBack,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ErrorLog } from '../../src/errors/log.js';
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
const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

const noTexts = '. Its text may quote the request and is left out; onError: logWithMessages shows it';

describe('without onError, one line explains', () => {
  const unavailable = (cause: Error) => new StorageBusy('the storage is unavailable', { cause });
  const refused = { code: 'ECONNREFUSED', syscall: 'connect', address: '::1', port: 5432 };
  // As Node rejects if no address of a host accepts.
  const ofNode = Object.assign(new AggregateError([Object.assign(new Error(), refused)]), {
    code: 'ECONNREFUSED',
  });
  const atPort =
    'ECONNREFUSED, ::1 port 5432. Nobody listens there: start the server, or check host and port';

  test.each<[string, unknown, string]>([
    ['a full queue', new StorageBusy(), '50301 busy, POST /plants: the storage queue is full'],
    [
      'what an app says to its operator by a class of plant-store',
      new StorageBusy('shard 7 is moving'),
      '50301 busy, POST /plants: shard 7 is moving',
    ],
    [
      'an outage, with its cause',
      unavailable(Object.assign(new Error('connect ECONNREFUSED'), refused)),
      `50301 busy, POST /plants: the storage is unavailable: Error ${atPort}${noTexts}`,
    ],
    [
      'an outage of a host with several addresses',
      unavailable(ofNode),
      `50301 busy, POST /plants: the storage is unavailable: AggregateError ${atPort}${noTexts}`,
    ],
    [
      'a rejected plant',
      new RolledBack(
        'rejected',
        Object.assign(coded('23514', 'failing row contains (1, Rosa)'), { table: 'plants' }),
      ),
      `50004 storage_rejected, POST /plants: the database rejects a plant, and stored nothing: Error 23514 check_violation, table plants. A constraint of the table rejects the plant: the option refuse responds 400 with a text of yours${noTexts}`,
    ],
    [
      'a rejection of plant-store, once',
      new RolledBack('rejected', new StorageBusy('the column is too narrow')),
      '50004 storage_rejected, POST /plants: the column is too narrow',
    ],
    [
      'an error of a driver',
      Object.assign(coded('08006', 'Connection terminated'), { sql: "INSERT 'Rosa'", parameters: ['Rosa'] }),
      `50001 storage_failed, POST /plants: the storage threw Error 08006 connection_failure. The connection broke: check the network, the pooler, and the log of the database${noTexts}`,
    ],
    [
      'a code of nobody',
      coded('E_ROSA', 'no'),
      `50001 storage_failed, POST /plants: the storage threw Error with a code that plant-store does not know${noTexts}`,
    ],
    ['a thrown string', 'full', '50001 storage_failed, POST /plants: the storage threw a string'],
    ['nothing that was thrown', undefined, '50001 storage_failed, POST /plants: the storage threw undefined'],
    ['a thrown object', {}, `50001 storage_failed, POST /plants: the storage threw Object${noTexts}`],
  ])('%s', async (_what, thrown, line) => {
    await storeOf(rejecting(thrown))(request);
    expect(lines).toEqual([`plant-store: ${line}`]);
  });

  test('a body that was consumed, with the line of the app to move', async () => {
    const body = throwing(new BodyError('body_unreadable', 'mount plant-store first')) as never;
    await storeOf(rejecting(0))({ ...request, body });
    expect(lines).toEqual(['plant-store: 50003 body_unreadable, POST /plants: mount plant-store first']);
  });

  test('the first 1 000 characters', async () => {
    await storeOf(rejecting(new StorageBusy('x'.repeat(2_000))))(request);
    expect(lines).toEqual([expect.stringMatching(/^plant-store: 50301 busy, POST \/plants: x+ …$/)]);
    expect(lines[0]).toHaveLength(1_002);
  });

  test('own words as they were when their error was made', async () => {
    const busy = new StorageBusy('shard 7 is moving');
    busy.message = 'no room for Rosa canina';
    await storeOf(rejecting(busy))(request);
    expect(lines).toEqual(['plant-store: 50301 busy, POST /plants: shard 7 is moving']);
  });

  const hint =
    '. verifyToken must return null for an invalid token, and throw only if it could not check the token';
  class JsonWebTokenError extends Error {}
  class JWTExpired extends Error {
    readonly code = 'ERR_JWT_EXPIRED';
  }
  const unreachable = new TypeError('fetch failed', {
    cause: coded('ENOTFOUND', 'getaddrinfo tokens.example'),
  });
  const notFound = 'TypeError: Error ENOTFOUND. The name of the host is not found: check it, and DNS';
  test.each<[string, unknown, string]>([
    ['jsonwebtoken', new JsonWebTokenError('jwt malformed'), 'JsonWebTokenError'],
    ['jose', new JWTExpired('expired'), 'JWTExpired ERR_JWT_EXPIRED'],
    ['fetch, whose service is away', unreachable, notFound],
    ['fetch, which took too long', new DOMException('timeout', 'TimeoutError'), 'DOMException TimeoutError'],
    ['anybody', new Error('no good'), 'Error'],
  ])(
    'an error that verifyToken got from %s, with the remedy and its place',
    async (_library, thrown, said) => {
      await storeOf(rejecting(0), throwing(thrown))(request);
      const [line, ...frames] = lines;
      expect(line).toBe(
        `plant-store: 50002 verification_failed, POST /plants: verifyToken threw ${said}${hint}${noTexts}`,
      );
      expect(frames.filter((frame) => !/^ {4}at \S.*log\.test\.ts:\d+:\d+$/.test(frame))).toEqual([]);
      expect(frames.length).toBeLessThan(2);
    },
  );

  test('a verifier that takes too long, in own words', async () => {
    const timeout = createPlantStore(rejecting(0), () => new Promise<true>(() => {}), {
      onError,
      timeoutMs: 1,
    });
    await timeout(request);
    expect(lines).toEqual([
      'plant-store: 50002 verification_failed, POST /plants: timed out after 1 ms waiting for verifyToken',
    ]);
  });

  test('guarded routes that fail for reasons of their own are lines of their own, with method, path and place', async () => {
    const failing = (error: unknown) => guard(() => true, throwing(error) as never, { onError });
    await failing(new StorageBusy())({ ...request, method: 'GET', url: 'http://localhost/plants/7?x' });
    expect(lines.splice(0)).toEqual(['plant-store: 50301 busy, GET /plants/7: the storage queue is full']);
    await failing(new Error('one'))({ ...request, url: '/beds' });
    await failing(new Error('other'))({ ...request, url: '/pots' });
    const said = `the guarded handler threw Error${noTexts}`;
    expect(lines.filter((line) => !line.startsWith(' '))).toEqual([
      `plant-store: 50000 internal_error, POST /beds: ${said}`,
      `plant-store: 50000 internal_error, POST /pots: ${said}`,
    ]);
    expect(lines.filter((line) => /^ {4}at .*log\.test\.ts:\d+:\d+$/.test(line))).toHaveLength(2);
  });

  test.each<[string, unknown]>([
    ['itself', new TypeError('x is no\nfunction')],
    ['as the cause of another', new RolledBack('rejected', new TypeError('x is no\nfunction'))],
  ])('a fault of a program, %s, and where it is', async (_what, thrown) => {
    await storeOf(rejecting(thrown))(request);
    const [line, ...frames] = lines;
    expect(line).toMatch(/^plant-store: 5000[14] \w+, POST \/plants: .*\bTypeError\. Its text may/);
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.filter((frame) => !/^ {4}at \S*:\d+:\d+$/.test(frame))).toEqual([]);
  });

  test('an error of no other kind of a storage has no frames, whatever its code', async () => {
    for (const error of [new Error('the disk is full'), coded('ENOSPC', 'no connection'), coded('X', 'x')])
      await storeOf(rejecting(error))(request);
    expect(lines).toHaveLength(3);
  });

  test('an onError that throws or rejects leaves the default line', async () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => write.mockRestore());
    const failing = [throwing(new Error('no logger')), async () => Promise.reject(new Error('no logger'))];
    for (const [i, onError] of failing.entries())
      await createPlantStore(rejecting(new StorageBusy(`shard ${i} is moving`)), () => true, {
        onError: onError as never,
      })(request);
    await vi.waitFor(() =>
      expect(write.mock.calls.flat()).toEqual([
        'plant-store: 50301 busy, POST /plants: shard 0 is moving',
        'plant-store: 50301 busy, POST /plants: shard 1 is moving',
      ]),
    );
  });
});

test('describeError says the same, by the code of onError', () => {
  const error = coded('23514', 'failing row contains (1, Rosa)');
  const said =
    'Error 23514 check_violation. A constraint of the table rejects the plant: the option refuse responds 400 with a text of yours';
  expect([
    describeError(error),
    describeError(error, 50001),
    describeError(new Error('a bed'), 50000),
  ]).toEqual([
    `${said}${noTexts}`,
    `the storage threw ${said}${noTexts}`,
    `the guarded handler threw Error${noTexts}`,
  ]);
});

test('logWithMessages writes the error itself behind the line, each time', async () => {
  const write = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => write.mockRestore());
  const error = new Error('no such bed', { cause: new Error('the cause') });
  const handle = createPlantStore(rejecting(error), () => true, { onError: logWithMessages });
  await handle(request);
  await handle(request);
  const call = [`plant-store: 50001 storage_failed, POST /plants: the storage threw Error${noTexts}`, error];
  expect(write.mock.calls).toEqual([call, call]);
});

test('the default writes to console.error', async () => {
  const write = vi.spyOn(console, 'error').mockImplementation(() => {});
  await createPlantStore(rejecting(new StorageBusy('the default')), () => true)(request);
  expect(write.mock.calls).toEqual([['plant-store: 50301 busy, POST /plants: the default']]);
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
    Object.assign(new Error('unknown'), { code: '57P01' }),
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
