// Anything can be thrown, by each party and by each getter of what it throws: there is an answer all the same.
import {
  createPlantStore,
  errorNumbers,
  InsufficientScope,
  PlantRefused,
  type PlantResponse,
  type PlantStorage,
  type PlantStoreOptions,
  RolledBack,
  type VerifyContext,
  type VerifyToken,
} from 'plant-store';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { sentences } from '../../src/errors/problems.js';
import { createRequest } from '../support/plants.js';

const good = createRequest('good');
const taken: PlantStorage = { create: async () => 'taken', find: async () => undefined };

/** What goes wrong: each party gets a function that throws, rejects, or returns something that does. */
type Fail = () => never;
type Send = (fail: Fail) => Promise<PlantResponse>;
let onError = vi.fn();
beforeEach(() => {
  onError = vi.fn();
});

/** The code of each party's failure, of which `onError` hears; a party without one changes no response. */
const parties: Record<string, { readonly code?: number; readonly send: Send }> = {
  verifyToken: { code: 50002, send: (fail) => handleWith({ verifyToken: fail })(good) },
  'the body': { code: 50003, send: (fail) => handleWith({})({ ...good, body: fail }) },
  'the headers': { code: 50000, send: (fail) => handleWith({})({ ...good, headers: { get: fail } }) },
  'storage.create': { code: 50001, send: (fail) => handleWith({ storage: { create: fail } })(good) },
  'storage.find': {
    code: 50001,
    send: (fail) => handleWith({ storage: { ...taken, find: fail }, options: { acceptReplays: true } })(good),
  },
  'the signal': {
    code: 50002,
    send: (fail) => handleWith(reading)(Object.defineProperty({ ...good }, 'signal', { get: fail })),
  },
  'addEventListener of the signal': {
    code: 50002,
    send: (fail) => handleWith(reading)({ ...good, signal: signalWith({ add: fail }) }),
  },
  'removeEventListener of the signal': {
    send: (fail) => handleWith(reading)({ ...good, signal: signalWith({ remove: fail }) }),
  },
};

const reading = { verifyToken: (_token: string, { signal }: VerifyContext) => !signal.aborted };

function signalWith({ add = () => {}, remove = () => {} }): AbortSignal {
  return { aborted: false, addEventListener: add, removeEventListener: remove } as unknown as AbortSignal;
}

function broken(): never {
  throw new Error('broken');
}

function handleWith(parts: {
  verifyToken?: VerifyToken<unknown>;
  storage?: PlantStorage;
  options?: PlantStoreOptions;
}) {
  const { verifyToken = () => true, storage = { create: async () => 'created' }, options } = parts;
  return createPlantStore(storage, verifyToken, { onError, timeoutMs: 0, ...options });
}

const throws = () => broken();
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

const names = ['InsufficientScope', 'PlantRefused', 'RolledBack', 'StorageBusy', 'BodyError', 'AbortError'];
const wrong = { message: 7, scope: 'a"b', problem: 'none', resend: null, toString: revoked };
const [nothing, odd] = [Object.create(null), new Date(Number.NaN)];

/** What looks like one of the library's own errors and is none: it may mean another number than its party's. */
const alike: readonly unknown[] = names.flatMap((name) => [
  named(name),
  named(name, wrong),
  withGetters(named(name), Object.keys(wrong)),
]);

/** What may be thrown. */
const thrown: readonly unknown[] = [
  ...alike,
  ...[undefined, null, 0, '', 'a"b', 'a\r\nSet-Cookie: b', '\ud800', Symbol('s'), 7n, nothing, odd, throws],
  ...[revoked, new Proxy({}, { get: throws, has: throws, getPrototypeOf: throws, ownKeys: throws })],
  // biome-ignore lint/suspicious/noThenProperty: a thrown thenable is among what is tried
  Object.assign(new Error('boom'), { then: throws }),
  withGetters(new Error('boom'), ['stack', 'name', 'constructor', 'code', 'cause']),
];

function named(name: string, properties: object = {}): Error {
  return Object.assign(new Error('boom'), { name, ...properties });
}

/** An error of which some properties throw. */
function withGetters(error: Error, properties: readonly string[]): Error {
  for (const property of properties) Object.defineProperty(error, property, { get: throws });
  return error;
}

const ways: Record<string, (value: unknown) => Fail> = {
  throws: (value) => () => {
    throw value;
  },
  rejects: (value) => () => Promise.reject(value) as never,
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tried here
  'gives a thenable that throws': (value) => () => ({ then: ways.throws!(value) }) as never,
};

const numbers: readonly number[] = Object.values(errorNumbers);

/** What every answer must be, whatever happened. */
function checkAnswer({ status, headers, body }: PlantResponse): void {
  expect(Object.values(headers).every((value) => /^[\x20-\x7e]+$/.test(value))).toBe(true);
  expect(headers['content-type']).toBe('application/json');
  if (status === 200) return;
  const { error, message, ...more } = JSON.parse(body);
  expect(numbers).toContain(error);
  expect(Math.trunc(error / 100)).toBe(status);
  expect(message).toBeTypeOf('string');
  expect(message).not.toBe('');
  expect(more).toEqual({});
}

/** Parties of which no promise is expected. */
const synchronous = /headers|signal/;

describe.each(Object.entries(parties))('whatever comes from %s', (party, { code, send }) => {
  const possible = Object.entries(ways).filter(([way]) => way === 'throws' || !synchronous.test(party));
  test.each(possible)('when it %s, the client gets a response', async (_way, failing) => {
    for (const value of thrown) {
      onError.mockClear();
      const answer = await send(failing(value)).catch(() => expect.fail('handle rejected'));
      checkAnswer(answer);
      if (alike.includes(value)) continue;
      expect(answer.error).toBe(code);
      expect(onError.mock.calls.map(([error]) => error === value)).toEqual(code ? [true] : []);
    }
  });
});

describe('a foreign error with the name of an error of the library', () => {
  const answerTo = async (party: string, properties: object) => {
    const { status, headers, body } = await parties[party]!.send(
      ways.throws!(Object.assign(new Error(), properties)),
    );
    return { status, challenge: headers['www-authenticate'], ...JSON.parse(body) };
  };

  test.each<[string, unknown]>([
    ['none', undefined],
    ['no string', 7],
    ['empty', ''],
    ['a quote', 'a", error="invalid_token'],
    ['a line break', 'a\r\nSet-Cookie: b=c'],
    ['a list', ['plants:write']],
  ])('hazard: an InsufficientScope whose scope is no scope (%s) gets no header', async (_what, scope) => {
    const answer = await answerTo('verifyToken', { name: 'InsufficientScope', scope });
    expect(answer).toMatchObject({ status: 500, error: 50002, challenge: undefined });
  });

  test('an InsufficientScope of another copy of the package is a 403', async () => {
    const answer = await answerTo('verifyToken', { name: 'InsufficientScope', scope: 'plants:write trees' });
    expect(answer).toMatchObject({
      error: 40301,
      challenge: 'Bearer realm="plants", error="insufficient_scope", scope="plants:write trees"',
    });
  });

  test.each<[string, unknown]>([
    ['none', undefined],
    ['no string', { text: 'too long' }],
    ['a Symbol', Symbol('m')],
    ['empty', ''],
  ])('a PlantRefused whose message is %s shows the sentence of its problem', async (_what, message) => {
    const answer = await answerTo('storage.create', { name: 'PlantRefused', message });
    expect(answer).toMatchObject({ error: 40004, message: sentences.plant_refused });
  });

  // What the own classes mean is in host-cases.json.
  test.each<[party: string, error: object, number: number, message?: string]>([
    // By its name: the CommonJS copy of the package has its own classes.
    ['storage.create', named('PlantRefused', { message: 'too long' }), 40004, 'too long'],
    ['storage.create', named('StorageBusy'), 50301],
    ['storage.create', named('RolledBack', { reason: 'conflict' }), 50301],
    ['storage.create', named('RolledBack', { reason: 'locked' }), 50301],
    ['storage.create', named('RolledBack', { reason: 'rejected' }), 50004],
    ['storage.create', named('RolledBack', { reason: 'unusable' }), 50004],
    ['storage.create', named('RolledBack', { reason: 'otherwise' }), 50001],
    // From another party than the one that it is meant for, it is an outage like any other.
    ['verifyToken', new RolledBack('rejected', new Error('a CHECK')), 50002],
    ['storage.create', new InsufficientScope('a'), 50001],
    ['verifyToken', new PlantRefused('too long'), 50002],
  ])('from %s means what its name says: %o', async (party, thrown, error, message = expect.any(String)) => {
    const { body } = await parties[party]!.send(ways.throws!(thrown));
    expect(JSON.parse(body)).toEqual({ error, message });
  });
});
