// What the default of onError writes of what others have said: never a value of a request, in whatever spelling a driver, a
// library or a trigger has put it into a message, a cause or a name.
import {
  createPlantStore,
  groupCommit,
  guard,
  type PlantStorage,
  type PlantStoreOptions,
  RolledBack,
  StorageBusy,
} from 'plant-store';
import { beforeEach, describe, expect, test } from 'vitest';
import { ErrorLog } from '../../src/log.js';
import { SimulatedClock } from '../support/clock.js';
import fc from '../support/properties.js';

let written: string[] = [];
let options: PlantStoreOptions;
// A log of its own for each test: it writes a message once a second.
beforeEach(() => {
  written = [];
  const log = new ErrorLog((text) => void written.push(text), new SimulatedClock());
  options = { onError: (error, request, code) => log.log(error, request, code) };
});
const lines = () => written.join('\n');

interface Values {
  readonly token?: string;
  readonly name?: string;
  readonly tag?: string;
  readonly id?: bigint;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

const requestWith = ({
  token = 'secret',
  name = 'Rosa',
  tag = 'shrub',
  id = 7n,
  query = '',
  headers,
}: Values) => ({
  method: 'POST',
  url: `/plants${query}`,
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  body: `{"id":${id},"name":${JSON.stringify(name)},"tag":${JSON.stringify(tag)}}`,
});

/** Sends a request to a store whose storage rejects each create. */
const rejectedBy = (error: unknown, values: Values) =>
  createPlantStore({ create: () => Promise.reject(error) }, () => true, options)(requestWith(values));

const utf8 = (text: string) => new TextEncoder().encode(text);
const base64 = (text: string) => btoa(String.fromCharCode(...utf8(text)));
const hex = (text: string) => Array.from(utf8(text), (byte) => byte.toString(16).padStart(2, '0'));
const asciiJson = (text: string) =>
  JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** How drivers, libraries and triggers spell a value. */
const spellings: Record<string, (value: string) => string> = {
  'as it is': (value) => value,
  'in a key': (value) => `Key (name)=(${value}) already exists.`,
  quoted: (value) => `Duplicate entry '${value}' for key 'name'`,
  'cut at its end': (value) => `value too long: "${value.slice(0, Math.ceil(value.length * 0.7))}…"`,
  'cut at its beginning': (value) => `…${value.slice(Math.floor(value.length * 0.3))} is no tag`,
  'in JSON': (value) => `params: ${JSON.stringify([value])}`,
  'in JSON of ASCII': (value) => `params: ${asciiJson(value)}`,
  'quoted twice': (value) => `query failed: ${JSON.stringify(JSON.stringify({ value }))}`,
  'in a URL': (value) => `GET /session?token=${encodeURIComponent(value)} returned 500`,
  'in a URL in a URL': (value) => `GET /?to=${encodeURIComponent(encodeURIComponent(value))}`,
  'in a line of its own': (value) => `Failed query: select $1\nparams: ${value}`,
  'in base64': (value) => `payload ${base64(value)}`,
  'in a part of base64': (value) => `payload ${base64(`{"value":"${value}"}`).slice(3, -3)}`,
  'in base64url': (value) =>
    `payload ${base64(value).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`,
  'in hexadecimal digits': (value) => `\\x${hex(value).join('')}`,
  'in hexadecimal digits, bare': (value) => `value ${hex(value).join('')} rejected`,
  'as a buffer': (value) => `<Buffer ${hex(value).join(' ')}>`,
  'as bytes': (value) => `[${utf8(value).join(', ')}]`,
  'in HTML': (value) => value.replace(/[^ -~]|["'<>&]/g, (unit) => `&#${unit.charCodeAt(0)};`),
};

/** Parts of four characters or more of a value that are in what was written, also if that is decoded. */
function partsIn(value: string, text: string): string[] {
  const decoded = text
    .replace(/%(?:25)*([0-9a-f]{2})/gi, (_, pair) => String.fromCharCode(Number.parseInt(pair, 16)))
    .replace(
      /[A-Za-z0-9+/_-]{8,}/g,
      (code) => `${code} ${Buffer.from(code, 'base64')} ${Buffer.from(code, 'hex')}`,
    );
  const parts = Array.from({ length: Math.max(0, value.length - 3) }, (_, i) => value.slice(i, i + 4));
  return parts.filter(
    (part) => /[\p{L}\p{N}]{3}/u.test(part) && (text.includes(part) || decoded.includes(part)),
  );
}

const values = {
  'a token': 'zq7Xm2LwT9vKp4Rb8Ny1',
  'a JWT': `${base64('{"alg":"HS256"}')}.${base64('{"sub":"jane.roe@example.org"}').replaceAll('=', '')}.sIgN4tUr3`,
  'a name': 'patient Jane Roe',
  'a name of another script': 'Шиповник майский',
  'a name with quotation marks': `O'Brien "the rose" \\ Ltd.`,
  'a name in emoji': '🌹🌷🌻🌼 quartz',
};

describe.each(Object.entries(values))('%s', (_, value) => {
  test.each(Object.entries(spellings))('%s', async (_, spell) => {
    const message = `unexpected: ${spell(value)}`;
    const isToken = /^[\w.~+/=-]+$/.test(value);
    const ofRequest: Values = isToken ? { token: value } : { name: value };
    await rejectedBy(new Error(message), ofRequest);
    await rejectedBy(new Error('wrapped', { cause: new Error(message) }), { tag: value });
    const inQuery = `?q=${encodeURIComponent(value)}`;
    await rejectedBy(new StorageBusy(message, { cause: message }), { query: inQuery });
    // As a form writes it.
    const ofForm = `?page=2&${new URLSearchParams({ q: value })}`;
    await rejectedBy(new Error(message), { query: ofForm });
    await rejectedBy(new Error(message), { query: `${ofForm}%` });
    await rejectedBy(new Error(message), { query: `?${encodeURIComponent(value)}` });
    const cookie = `theme=dark; session=${encodeURIComponent(value)}`;
    await rejectedBy(new Error(message), { headers: { cookie } });
    await rejectedBy(new RolledBack('rejected', new TypeError(message)), ofRequest);
    // verifyToken is called before the body is read, of which it can quote nothing.
    if (isToken) {
      const verifyToken = () => {
        throw new Error(message);
      };
      await createPlantStore({ create: async () => 'created' }, verifyToken, options)(requestWith(ofRequest));
    }
    expect(partsIn(value, lines())).toEqual([]);
    const codes = [50001, 50301, 50004, ...(isToken ? [50002] : [])];
    for (const code of codes) expect(lines()).toContain(`plant-store: ${code} `);
    // What is not of the request is still there.
    expect(lines()).toContain('unexpected: ');
  });
});

test.each(['code', 'constraint', 'table', 'column', 'routine', 'name'])(
  'a value in the member %s',
  async (member) => {
    const error = Object.assign(new Error('rejected for zq7Xm2LwT9'), { [member]: 'zq7Xm2LwT9' });
    await rejectedBy(error, { name: 'zq7Xm2LwT9' });
    expect(lines()).not.toContain('zq7X');
  },
);

/** Bytes whose base64 has a minus sign and an underscore in the alphabet of URLs. */
const claims = '{"sub":"zq~>?~?>~kvartz"}';
const ofUrl = base64(claims).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const headersOf = (more: Record<string, string>) => new Headers({ ...requestWith({}).headers, ...more });
test.each<[where: string, value: string, request: object]>([
  ['the id of the plant', '7340981234', requestWith({ id: 7_340_981_234n })],
  ['headers that are a Headers object', 'zq7Xm2LwT9', { headers: headersOf({ 'x-session': 'zq7Xm2LwT9' }) }],
  ['a claim of a JWT', 'zq~>?~?>~kvartz', { headers: headersOf({ 'x-jwt': `e30.${ofUrl}.c2ln` }) }],
  ['a cookie behind another', 'kvartz Alpha', { headers: headersOf({ cookie: 'a=1;b=kvartz+Alpha' }) }],
  ['a member that is dropped, of a parsed body', 'kvartz Alpha', { raw: { body: { note: 'kvartz Alpha' } } }],
  ['a number of a parsed body', '7340981234', { raw: { body: { phone: 7_340_981_234 } } }],
  ['a body of bytes', 'kvartz Alpha', { raw: { body: utf8('{"note":"kvartz Alpha"}') } }],
])('%s, as the database quotes it', async (_, value, request) => {
  const storage = { create: () => Promise.reject(new Error(`rejected for (${value})`)) };
  await createPlantStore(storage, () => true, options)({ ...requestWith({}), ...request });
  expect(lines()).toContain('50001 storage_failed, POST /plants: rejected for (');
  expect(partsIn(value, lines())).toEqual([]);
});

test('the names that a database sets stay, where its message loses a value', async () => {
  const error = Object.assign(new Error(`duplicate key: (name)=(Rosa canina)`), {
    code: '23505',
    table: 'plants',
    constraint: 'plants_name_key',
  });
  await rejectedBy(error, { name: 'Rosa canina' });
  expect(lines()).toBe(
    'plant-store: 50001 storage_failed, POST /plants: duplicate key: (name)=(…) (23505, table plants, constraint plants_name_key)',
  );
});

test('the words of an error that quotes nobody stay, whatever the plant is called', async () => {
  await rejectedBy(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
    name: 'Rosa',
    headers: { host: '127.0.0.1:3000' },
  });
  expect(lines()).toMatch(/: connect ECONNREFUSED 127\.0\.0\.1:5432$/);
});

test('an error of a batch, of any of its plants, in the line of each of them and of those that the circuit refuses', async () => {
  let calls = 0;
  const storage = groupCommit(
    async (plants) => {
      calls++;
      throw new Error(`Failed query: ${plants.map(({ name }) => name).join()} ${calls}`);
    },
    { timeoutMs: 1_000 },
  ) as PlantStorage;
  const handle = createPlantStore(storage, () => true, options);
  const names = ['kvartz Alpha', 'kvartz Beta', 'kvartz Gamma'];
  await Promise.all(names.map((name, id) => handle(requestWith({ name, id: BigInt(id) }))));
  expect(calls).toBeLessThan(3);
  expect(lines()).toContain('Failed query: ');
  expect(lines()).not.toMatch(/kvartz|Alpha|Beta|Gamma/);
});

test('a guarded handler may have read a body that nobody knows: of what it throws, the class and the codes', async () => {
  const answer = () => {
    // A database may name a column or a constraint after what it was sent.
    const names = { column: 'kvartz', constraint: 'kvartz_key', routine: 'kvartz' };
    throw Object.assign(new Error('no bed kvartz'), { code: 'E_BED', errno: -13, ...names });
  };
  await guard(() => true, answer, options)({ ...requestWith({}), url: '/beds' });
  expect(lines()).toBe(
    'plant-store: 50000 internal_error, POST /beds: its message may quote a request, and is not shown (E_BED, errno -13)',
  );
  written = [];
  await guard(() => true, answer, options)({ ...requestWith({}), method: 'GET', url: '/beds' });
  expect(lines()).toContain('no bed kvartz');
});

test('whoever reads the body may quote what nobody else has seen: its class and its codes', async () => {
  const body = () => {
    throw Object.assign(new Error('unexpected token in {"name":"kvartz"'), { code: 'E_PARSE' });
  };
  await createPlantStore(
    { create: async () => 'created' },
    () => true,
    options,
  )({ ...requestWith({}), body });
  expect(lines()).toBe(
    'plant-store: 50003 body_unreadable, POST /plants: its message may quote a request, and is not shown (E_PARSE)',
  );
});

test('values of any text, in any of these spellings, behind and before any words', async () => {
  const word = fc.string({
    minLength: 4,
    maxLength: 20,
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzÄéñжя0123456789'),
  });
  const arbitrary = fc.record({
    // A value of its own for each run, so that no word of the messages is in it by chance.
    value: fc
      .array(word, { minLength: 1, maxLength: 4 })
      .map((words) => words.map((each) => `q${each}`).join(' ')),
    spelling: fc.constantFrom(...Object.values(spellings)),
    depth: fc.integer({ min: 0, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ value, spelling, depth }) => {
      written = [];
      let error = new Error(spelling(value));
      for (let i = 0; i < depth; i++) error = new Error(`wrapped ${i}`, { cause: error });
      await rejectedBy(error, { name: value });
      expect(partsIn(value, lines())).toEqual([]);
    }),
  );
});

test('time grows with the length alone: a message and a plant of a megabyte', async () => {
  for (const unit of ['a', 'ab ', '\u007f', '%41', '\\u0041', '"', '…', 'Zm9v', '1, ']) {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    const start = performance.now();
    await rejectedBy(new Error(text, { cause: new Error(text) }), {
      name: text.slice(0, 900_000).replaceAll('\\', 'x').replaceAll('"', 'x'),
      headers: { accept: `${'1'.repeat(60_000)}!`, cookie: `${text.slice(0, 60_000)}!` },
    });
    // Ten times what it takes on a slow machine that is busy; quadratic work would take minutes.
    expect(performance.now() - start).toBeLessThan(5_000);
  }
});
