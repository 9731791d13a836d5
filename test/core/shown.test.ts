// Of an error that is not plant-store's, no text is written anywhere: not by the default of onError, not by describeError, not in a
// response. Each party throws errors that hold a marker wherever an error can hold a text.
import { readFileSync } from 'node:fs';
import {
  createPlantStore,
  describeError,
  groupCommit,
  guard,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  RolledBack,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import { PlantError } from 'plant-store/client';
import { postgresStorage } from 'plant-store/postgres';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { advice } from '../../src/errors/advice.js';
import { withCauses } from '../../src/errors/causes.js';
import { knownCodeIn } from '../../src/errors/codes.js';
import { ErrorLog } from '../../src/errors/log.js';
import { SimulatedClock } from '../support/clock.js';

const marker = 'zq7Xm2LwT9vKp4';

let lines: string[] = [];
let options: PlantStoreOptions;
beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'error').mockImplementation((...texts) => void lines.push(texts.join(' ')));
  // One of its own, because a line is written once a second.
  const log = new ErrorLog((text) => void lines.push(text), new SimulatedClock());
  options = { onError: (error, request, code) => log.log(error, request, code) };
});
afterEach(() => void vi.restoreAllMocks());

class Foreign extends Error {}
class Getters {
  get message() {
    return marker;
  }
  get code() {
    return marker;
  }
  get stack() {
    return `Error: ${marker}\n    at ${marker} (/${marker}/app.js:1:1)`;
  }
  get cause(): unknown {
    return new Foreign(marker);
  }
}

const unreadable = {
  toString() {
    throw new Error(marker);
  },
};

const fields =
  'name code errno errcode sqlState severity where schema table column constraint dataType routine detail hint file syscall address hostname port path sql parameters query originalCode table_name constraint_name reason scope problem'.split(
    ' ',
  );

/** Errors that hold the marker in all that an error, a driver or a library may set. */
const marked: Record<string, () => unknown> = {
  'an error': () =>
    Object.assign(new Foreign(marker), Object.fromEntries(fields.map((name) => [name, marker]))),
  'its stack': () => Object.assign(new Foreign(marker), { stack: `${marker}: ${marker}\n    at ${marker}` }),
  'a fault of a program': () =>
    Object.assign(new TypeError(`${marker}\n    at ${marker} (/${marker}:1:1)`), { code: marker }),
  'its name': () => Object.assign(new Foreign(marker), { name: `Error ${marker}` }),
  'a class of its own members': () => Object.assign(new Foreign(marker), { constructor: { name: marker } }),
  'its cause': () => new Error('x', { cause: Object.assign(new Foreign(marker), { code: marker }) }),
  'a text as its cause': () => new Foreign('x', { cause: marker }),
  'the errors of an AggregateError': () => new AggregateError([new Foreign(marker), marker], marker),
  'what libraries wrap': () =>
    Object.assign(new Foreign(marker), {
      original: new Foreign(marker),
      driverError: { message: marker, code: marker },
      meta: { driverAdapterError: new Foreign(marker), target: marker },
    }),
  getters: () => new Getters(),
  'a plain object': () => ({
    message: marker,
    code: marker,
    toString: () => marker,
    [Symbol.toPrimitive]: () => marker,
  }),
  'a number': () => Object.assign(new Foreign(marker), { errno: 7_340_981_234, code: 7_340_981_234 }),
  'a text': () => marker,
  'a function': () => Object.assign(() => {}, { message: marker }),
  'a known code beside it': () =>
    Object.assign(new Foreign(marker), {
      ...Object.fromEntries(fields.map((name) => [name, marker])),
      ...Object.fromEntries(
        ['schema', 'table', 'column', 'constraint', 'dataType'].map((name) => [name, 'plants']),
      ),
      code: 'ECONNREFUSED',
    }),
  // No Error: Bun reads some of their members as texts.
  'what throws when it is read as a text': () => ({
    ...Object.fromEntries([...fields, 'message', 'stack'].map((name) => [name, unreadable])),
    code: 'ECONNREFUSED',
  }),
  'a symbol': () => Object.assign(new Foreign(marker), { code: Symbol(marker), errno: Symbol(marker) }),
  'an error of ours that was changed': () =>
    Object.assign(new StorageBusy('shard 7 is moving'), { message: marker }),
  'an error that only looks like ours': () => Object.assign(new Foreign(marker), { name: 'StorageBusy' }),
  'an error of the client': () =>
    new PlantError('http://127.0.0.1', { status: 400, json: { error: 40004, message: marker } }),
  'what cannot be read': () => {
    const { proxy, revoke } = Proxy.revocable({ message: marker }, {});
    revoke();
    return proxy;
  },
};

const request: PlantRequest = {
  method: 'POST',
  url: `/plants?q=${marker}`,
  headers: { authorization: `Bearer ${marker}`, 'content-type': 'application/json', cookie: marker },
  body: `{"id":1,"name":"${marker}","tag":"${marker}"}`,
};

const throwing = (make: () => unknown) => () => {
  throw make();
};
const created: PlantStorage = { create: async () => 'created' };
const rejecting = (make: () => unknown): PlantStorage => ({ create: async () => throwing(make)() as never });

const send = (
  storage: PlantStorage,
  verifyToken: VerifyToken<true> = () => true,
  more: Partial<PlantRequest> = {},
) => createPlantStore(storage, verifyToken, options)({ ...request, ...more });

/** Each party of a request, with what it throws. */
const parties: Record<string, (make: () => unknown) => Promise<unknown>> = {
  verifyToken: (make) => send(created, throwing(make) as never),
  'a storage': (make) => send(rejecting(make)),
  'a storage that says why it is busy': (make) =>
    send(rejecting(() => new StorageBusy('shard 7 is moving', { cause: make() }))),
  'a storage that rolled back': (make) => send(rejecting(() => new RolledBack('rejected', make()))),
  'find of a storage': (make) => {
    const storage = { create: async () => 'taken' as const, find: throwing(make) as never };
    return createPlantStore(storage, () => true, { ...options, acceptReplays: true })(request);
  },
  'createMany of a group commit': (make) => send(groupCommit(throwing(make) as never)),
  'one outcome of a group commit': (make) => send(groupCommit(async () => [make() as Error])),
  'a pool': (make) =>
    send(postgresStorage({ query: async () => throwing(make)() as never }, { timeoutMs: 50 })),
  refuse: (make) => {
    const failed = Object.assign(new Error(marker), { code: '23514', severity: 'ERROR', routine: 'x' });
    const query = async (text: string) => {
      if (text.startsWith('INSERT')) throw failed;
      return { rows: [] };
    };
    return send(postgresStorage({ query }, { refuse: throwing(make) as never }));
  },
  'a guarded handler': (make) => guard(() => true, throwing(make) as never, options)(request),
  'whoever reads the body': (make) => send(created, () => true, { body: throwing(make) as never }),
  'a header': (make) => send(created, () => true, { headers: { get: throwing(make) as never } }),
  onError: (make) => {
    const full = rejecting(() => new StorageBusy());
    lines.push('plant-store: 50301 in its time');
    return createPlantStore(full, () => true, { onError: throwing(make) as never })(request);
  },
};

test.each(Object.keys(parties).flatMap((party) => Object.keys(marked).map((what) => [party, what] as const)))(
  '%s throws %s with a marker, and it is written nowhere',
  async (party, what) => {
    const response = await parties[party]!(marked[what]!);
    const described = describeError(marked[what]!());
    expect(lines.join('\n')).toMatch(/^plant-store: \d{5} /);
    expect([JSON.stringify(response), described, ...lines].join('\n')).not.toMatch(
      /zq7Xm2LwT9vKp4|7340981234/,
    );
  },
);

test('the fields of a database error that name its schema are shown, and nothing beside them', () => {
  const names = Object.fromEntries(fields.map((name) => [name, marker]));
  const schema = { schema: 's', table: 't', column: 'c', dataType: 'd', constraint: 'k' };
  const error = Object.assign(new Foreign(marker), names, schema, { code: '23514', where: marker });
  expect(describeError(error, 50004)).toContain(
    'Foreign 23514 check_violation, schema s, table t, column c, dataType d, constraint k, with a context, such as a function or trigger of the app.',
  );
  expect(describeError(error, 50004)).not.toContain(marker);
});

test('a code is shown if it stands in a table, with the name that its manual has', () => {
  const shown = (members: object) => knownCodeIn(Object.assign(new Error(marker), members));
  expect([
    shown({ code: '23505' }),
    shown({ errno: '23505' }),
    shown({ originalCode: '40P01' }),
    shown({ errno: 1062, sqlState: '23000', code: 'ER_DUP_ENTRY' }),
    shown({ errno: 4025, sqlState: '23000', code: 'ER_INNODB_AUTOEXTEND_SIZE_OUT_OF_RANGE' }),
    shown({ code: 'SQLITE_CONSTRAINT_CHECK' }),
    shown({ errcode: 2067 }),
    shown({ errcode: 5 | (99 << 8) }),
    shown({ code: 'ERR_JWT_EXPIRED' }),
    shown({ errno: -111, code: 'ECONNREFUSED' }),
    knownCodeIn(new DOMException(marker, 'TimeoutError')),
  ]).toEqual([
    '23505 unique_violation',
    '23505 unique_violation',
    '40P01 deadlock_detected',
    '1062 ER_DUP_ENTRY',
    '4025 ER_CONSTRAINT_FAILED',
    'SQLITE_CONSTRAINT_CHECK',
    'SQLITE_CONSTRAINT_UNIQUE',
    'SQLITE_BUSY',
    'ERR_JWT_EXPIRED',
    'ECONNREFUSED',
    'TimeoutError',
  ]);
  expect([
    shown({ code: 'ABCDE' }),
    shown({ errno: 1062 }),
    shown({ code: 'constructor' }),
    shown({}),
  ]).toEqual([undefined, undefined, undefined, undefined]);
});

test('what wraps itself, or has no end, is read to a bound', () => {
  const endless = {
    get cause(): unknown {
      return Object.create(endless);
    },
  };
  expect(withCauses(endless).length).toBeLessThan(20);
  expect(describeError(endless)).toContain('left out');
});

test('OPERATING what to do about each code', () => {
  const page = readFileSync(new URL('../../adapters/OPERATING.md', import.meta.url), 'utf8');
  const codes = new Map<string, string[]>();
  // Classes of SQLSTATEs have two characters.
  for (const [code, what] of Object.entries(advice))
    codes.set(what, [...(codes.get(what) ?? []), code.length === 2 ? `${code}…` : code]);
  const lines = [...codes].flatMap(([what, codes]) => [codes.join(', '), `    ${what}`]);
  const [, block] = /\n## Codes of databases and systems\n[^`]*```text\n([\s\S]*?)\n```/.exec(page)!;
  expect(block!.split('\n')).toEqual(lines);
});
