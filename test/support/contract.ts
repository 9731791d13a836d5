/**
 * The contract table as data: what a client sends, and what it must be answered. No test runner and no `node:` module
 * in here, so that the same table runs on the bare handler, over sockets, and inside any runtime.
 *
 * The ids of the cases are frozen: other people's reports name them. What only a raw socket can say (two Authorization
 * headers, dot segments, absolute-form) is not in here; deadlines and disconnects are not either.
 */
import {
  InsufficientScope,
  type NewPlant,
  PlantRefused,
  type PlantRequest,
  type PlantStorage,
  type PlantStoreOptions,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';

export interface CaseRequest {
  /** `POST` unless given. */
  readonly method?: string;
  /** Relative to the mount; `/plants` unless given. */
  readonly path?: string;
  /** On top of a good token and `application/json`; `null` takes one of these away. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Uint8Array;
}

export interface Expected {
  readonly status: number;
  /** The answer is an Error body with this number. */
  readonly error?: number;
  /** What the message of the Error body must match. */
  readonly message?: RegExp;
  /** Headers that must have this value, `null` for those that must be absent. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The whole JSON body, or `''` for none. */
  readonly body?: unknown;
  /** The plant that the storage must have got. */
  readonly stores?: NewPlant;
}

export interface ContractCase {
  /** Frozen; made of a-z, 0-9 and hyphens. */
  readonly id: string;
  readonly title: string;
  /** A request that was answered 200 before. */
  readonly before?: CaseRequest;
  readonly request: CaseRequest;
  readonly expected: Expected;
}

/** Who a token stands for: each case has a tenant of its own, so that all share one server in any order. */
export interface Caller {
  readonly tenant: string;
}

/** The storage, the verifier and the options that the table counts on; one set for each host. */
export function contractSetup(): {
  readonly storage: PlantStorage<Caller>;
  readonly verifyToken: VerifyToken<Caller>;
  readonly options: PlantStoreOptions;
  /** What `onError` was told. */
  readonly errors: { readonly error: unknown; readonly request: PlantRequest }[];
  /** The plants that a case left behind. */
  readonly stored: (contractCase: Pick<ContractCase, 'id'>) => NewPlant[];
} {
  const tenants = new Map<string, Map<bigint, NewPlant>>();
  const errors: { error: unknown; request: PlantRequest }[] = [];
  return {
    storage: {
      async create(plant, { caller }) {
        if (plant.name === 'refuse me') throw new PlantRefused('name is on the list of refused names');
        if (plant.name === 'be busy') throw new StorageBusy();
        if (plant.name === 'fail') throw new Error('inside: the disk is gone');
        if (plant.name === 'answer nonsense') return 'inside' as 'created';
        const plants = tenants.get(caller.tenant) ?? new Map<bigint, NewPlant>();
        tenants.set(caller.tenant, plants);
        if (plants.has(plant.id)) return 'taken';
        plants.set(plant.id, plant);
        return 'created';
      },
    },
    verifyToken(token) {
      if (token === 'scopeless') throw new InsufficientScope('plants:write plants:read');
      if (token === 'outage') throw new Error('inside: the token service is down');
      if (token === 'promised-outage') return Promise.reject(new Error('inside: the token service is down'));
      if (token === 'promised-scopeless') return Promise.reject(new InsufficientScope('plants:write'));
      if (token === 'null') return null;
      if (token === 'undefined') return undefined;
      if (token === 'promised-null') return Promise.resolve(null);
      if (token.startsWith('promised-good')) return Promise.resolve({ tenant: token });
      return token.startsWith('good') && { tenant: token };
    },
    options: {
      onError: (error, request) => {
        errors.push({ error, request });
      },
    },
    errors,
    stored: ({ id }) => [...(tenants.get(tokenOf(id))?.values() ?? [])],
  };
}

/** The token of a case: `good.<id>`. */
export function tokenOf(id: string): string {
  return `good.${id}`;
}

/** A request of a case, complete: header names in lower case, the body as bytes so that no client adds a type to it. */
export function requestOf(
  { id }: Pick<ContractCase, 'id'>,
  { method = 'POST', path = '/plants', headers = {}, body }: CaseRequest,
): CompleteRequest {
  const all = { authorization: `Bearer ${tokenOf(id)}`, 'content-type': 'application/json', ...headers };
  return {
    method,
    path,
    headers: Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
    ),
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  };
}

export interface CompleteRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | undefined;
}

/** An answer as a client sees it; `headers` may be a `Headers`. */
export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** Sends the request (and what has to come before it) and says what is wrong with the answer: nothing, if all is well. */
export async function faultsOf(
  contractCase: ContractCase,
  send: (request: CompleteRequest) => Promise<Answer>,
): Promise<string[]> {
  const { before, request, expected } = contractCase;
  if (before) {
    const first = await send(requestOf(contractCase, before));
    if (first.status !== 200) return [`the request before it was answered ${first.status} ${first.text}`];
  }
  return compare(expected, await send(requestOf(contractCase, request)));
}

function compare(expected: Expected, { status, headers, text }: Answer): string[] {
  const faults: string[] = [];
  const check = (what: string, is: unknown, must: unknown) => {
    if (is !== must) faults.push(`${what} is ${JSON.stringify(is)}, and must be ${JSON.stringify(must)}`);
  };
  check('status', status, expected.status);
  for (const [name, value] of Object.entries(expected.headers ?? {})) check(name, headers.get(name), value);
  if (expected.body === '') check('the body', text, '');
  else check('content-type', headers.get('content-type'), 'application/json');
  if (expected.body) check('the body', text, JSON.stringify(expected.body));
  if (expected.error) {
    const { error, message, ...rest } = objectIn(text);
    check('error', error, expected.error);
    check('the type of message', typeof message, 'string');
    check('further members of the Error', Object.keys(rest).join(), '');
    if (!(expected.message ?? /./).test(String(message))) {
      faults.push(`message is ${JSON.stringify(message)}, and must match ${expected.message}`);
    }
    if (text.includes('inside')) faults.push(`the answer tells of the inside: ${text}`);
  }
  return faults;
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

// The answers of the table, one line each.

type Details = Omit<Expected, 'status' | 'error'>;
const answer =
  (error: number, always: Details = {}) =>
  (message?: RegExp, more: Details = {}): Expected => ({
    status: Math.trunc(error / 100),
    error,
    headers: { 'www-authenticate': null, ...always.headers, ...more.headers },
    ...(message && { message }),
  });

const bodyNotJson = answer(40001);
const plantInvalid = answer(40002);
const idTaken = answer(40003);
const plantRefused = answer(40004);
const mediaTypeUnsupported = answer(40005);
const bodyTooLarge = answer(40006);
const tokenMissing = answer(40101, { headers: { 'www-authenticate': 'Bearer realm="plants"' } });
const tokenInvalid = answer(40102, {
  headers: { 'www-authenticate': 'Bearer realm="plants", error="invalid_token"' },
});
const scopeInsufficient = answer(40301);
const notFound = answer(40401, { headers: { allow: null } });
const methodNotAllowed = answer(40501, { headers: { allow: 'POST' } });
const storageFailed = answer(50001, { headers: { 'retry-after': null } });
const verificationFailed = answer(50002, { headers: { 'retry-after': null } });
const busy = answer(50301, { headers: { 'retry-after': '1' } });

const created = (body: unknown, stores?: NewPlant): Expected => ({
  status: 200,
  headers: { 'www-authenticate': null, 'retry-after': null },
  body,
  ...(stores && { stores }),
});

const one = (
  id: string,
  title: string,
  request: CaseRequest,
  expected: Expected,
  before?: CaseRequest,
): ContractCase => ({ id, title, request, expected, ...(before && { before }) });

const rose = '{"id":1,"name":"Rosa canina","tag":"rose"}';
const roseCreated = created(
  { name: 'Rosa canina', tag: 'rose' },
  { id: 1n, name: 'Rosa canina', tag: 'rose' },
);
const withHeaders = (headers: Record<string, string | null>): CaseRequest => ({ headers, body: rose });
const withToken = (authorization: string | null): CaseRequest => withHeaders({ authorization });
const withType = (type: string | null): CaseRequest => withHeaders({ 'content-type': type });

const bytes = (...parts: readonly (string | number)[]): Uint8Array =>
  new Uint8Array(
    parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : [part])),
  );

const mebibyte = 2 ** 20;
/** What the stores of these cases take, in bytes: the default. */
export const bodyLimit = mebibyte;
const padded = (size: number): string => rose + ' '.repeat(size - rose.length);

const creations: ContractCase[] = [
  one('create-with-tag', 'name and tag come back, the id does not', { body: rose }, roseCreated),
  one(
    'create-without-tag',
    'a tag that was not given does not come back',
    { body: '{"id":1,"name":"Rosa canina"}' },
    created({ name: 'Rosa canina' }, { id: 1n, name: 'Rosa canina' }),
  ),
  one(
    'create-empty-strings',
    'an empty name and an empty tag are strings',
    { body: '{"id":1,"name":"","tag":""}' },
    created({ name: '', tag: '' }, { id: 1n, name: '', tag: '' }),
  ),
  one(
    'create-other-members',
    'other members are accepted and dropped',
    { body: '{"colour":"red","id":1,"size":{"id":2,"name":3,"tag":[]},"name":"Rosa","list":[{"id":4}]}' },
    created({ name: 'Rosa' }, { id: 1n, name: 'Rosa' }),
  ),
  one(
    'create-proto',
    '__proto__ is just another name',
    {
      body: '{"__proto__":{"tag":"polluted"},"id":1,"name":"Rosa","constructor":{"prototype":{"tag":"no"}}}',
    },
    created({ name: 'Rosa' }, { id: 1n, name: 'Rosa' }),
  ),
  one(
    'create-white-space',
    'white space between tokens means nothing',
    { body: '\r\n\t{ "id"\t:\n1 , "name" :\r"Rosa" }\n' },
    created({ name: 'Rosa' }, { id: 1n, name: 'Rosa' }),
  ),
  one(
    'create-any-order',
    'members come in any order',
    { body: '{"tag":"rose","name":"Rosa","id":1}' },
    created({ name: 'Rosa', tag: 'rose' }, { id: 1n, name: 'Rosa', tag: 'rose' }),
  ),
  one(
    'create-escapes',
    'escapes in names and values are decoded',
    { body: '{"\\u0069d":1,"\\u006e\\u0061\\u006D\\u0065":"\\"\\\\\\u00e9\\ud83c\\udf39"}' },
    created({ name: '"\\é🌹' }, { id: 1n, name: '"\\é🌹' }),
  ),
  one(
    'create-unicode',
    'any string is a name: UTF-8 of two, three and four bytes',
    { body: '{"id":1,"name":"Épine ばら 🌹","tag":"\u2028"}' },
    created({ name: 'Épine ばら 🌹', tag: '\u2028' }, { id: 1n, name: 'Épine ばら 🌹', tag: '\u2028' }),
  ),
  one(
    'create-markup',
    'a name that looks like SQL or markup is a name',
    { body: `{"id":1,"name":"'); DROP TABLE plants; --","tag":"<script>"}` },
    created(
      { name: "'); DROP TABLE plants; --", tag: '<script>' },
      { id: 1n, name: "'); DROP TABLE plants; --", tag: '<script>' },
    ),
  ),
  one('create-bom', 'one leading byte order mark is ignored', { body: `\ufeff${rose}` }, roseCreated),
  one('create-at-limit', 'a body of exactly 1 MiB is accepted', { body: padded(mebibyte) }, roseCreated),
  one(
    'create-deep',
    'a member that is 100 000 levels deep is dropped like any other',
    { body: `{"id":1,"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"name":"Rosa"}` },
    created({ name: 'Rosa' }, { id: 1n, name: 'Rosa' }),
  ),
  one('query-ignored', 'a query is ignored', { path: '/plants?id=2&name=x', body: rose }, roseCreated),
  one('query-empty', 'an empty query is ignored', { path: '/plants?', body: rose }, roseCreated),
  one(
    'neighbours-beyond-2-53',
    '9007199254740992 and 9007199254740993 are two plants',
    { body: '{"id":9007199254740993,"name":"second"}' },
    created({ name: 'second' }, { id: 9007199254740993n, name: 'second' }),
    { body: '{"id":9007199254740992,"name":"first"}' },
  ),
];

/** Spellings of an id, and the integer that they are; `undefined` for those that are none of 64 bits. */
export const idSpellings: readonly (readonly [id: string, spelling: string, value: bigint | undefined])[] = [
  ['zero', '0', 0n],
  ['minus-zero', '-0', 0n],
  ['zero-fraction', '0.000', 0n],
  ['zero-huge-exponent', '0e999999999', 0n],
  ['zero-tiny-exponent', '-0.0e-999999999', 0n],
  ['one', '1', 1n],
  ['minus-one', '-1', -1n],
  ['one-point-zero', '1.0', 1n],
  ['minus-one-point-zero', '-1.00', -1n],
  ['exponent', '1e3', 1000n],
  ['exponent-plus', '1E+3', 1000n],
  ['exponent-leading-zeros', '1e0003', 1000n],
  ['exponent-zero', '7e0', 7n],
  ['exponent-minus-zero', '7e-0', 7n],
  ['exponent-eats-zeros', '1200e-2', 12n],
  ['exponent-eats-fraction', '1.25e2', 125n],
  ['exponent-eats-part', '12.50e1', 125n],
  ['safe-max', '9007199254740991', 9007199254740991n],
  ['unsafe-min', '9007199254740992', 9007199254740992n],
  ['unsafe-odd', '9007199254740993', 9007199254740993n],
  ['unsafe-odd-fraction', '9007199254740993.0', 9007199254740993n],
  ['unsafe-odd-negative', '-9007199254740993', -9007199254740993n],
  ['unsafe-odd-exponent', '9.007199254740993e15', 9007199254740993n],
  ['int64-max', '9223372036854775807', 9223372036854775807n],
  ['int64-max-exponent', '9.223372036854775807e18', 9223372036854775807n],
  ['int64-max-zeros', '92233720368547758070000e-4', 9223372036854775807n],
  ['int64-min', '-9223372036854775808', -9223372036854775808n],
  ['int64-min-exponent', '-9.223372036854775808E18', -9223372036854775808n],
  ['ten-to-18', '1e18', 1000000000000000000n],
  ['million-zeros', `1${'0'.repeat(1_000_000)}e-1000000`, 1n],
  ['million-zeros-after-point', `1.${'0'.repeat(1_000_000)}`, 1n],
  ['million-zeros-before', `0.${'0'.repeat(999_999)}1e1000000`, 1n],
  ['int64-max-plus-one', '9223372036854775808', undefined],
  ['int64-min-minus-one', '-9223372036854775809', undefined],
  ['ten-to-19', '1e19', undefined],
  ['ten-to-400', '1e400', undefined],
  ['minus-ten-to-400', '-1e400', undefined],
  ['ten-to-999999999', '1e999999999', undefined],
  ['exponent-beyond-double', `1e${'9'.repeat(400)}`, undefined],
  ['tiny-beyond-double', `1e-${'9'.repeat(400)}`, undefined],
  ['ten-to-minus-400', '1e-400', undefined],
  ['one-and-a-half', '1.5', undefined],
  ['half-after-exponent', '15e-1', undefined],
  ['fraction-below-double', '1.00000000000000000001', undefined],
  ['fraction-beyond-safe', '9007199254740992.5', undefined],
  ['int64-max-and-a-bit', '9223372036854775807.00001', undefined],
  ['million-digits', '1'.repeat(1_000_000), undefined],
  ['string', '"1"', undefined],
  ['string-empty', '""', undefined],
  ['true', 'true', undefined],
  ['null', 'null', undefined],
  ['array', '[1]', undefined],
  ['object', '{"id":1}', undefined],
];

const idIsNoInt64 =
  /^Not a NewPlant: id must be an integer from -9223372036854775808 to 9223372036854775807\.$/;
const idIsString = /^Not a NewPlant: id must be an integer from .*, sent as a number and not as a string\.$/;

const ids: ContractCase[] = idSpellings.map(([id, spelling, value]) => {
  const short = spelling.length > 40 ? `${spelling.slice(0, 12)}… (${spelling.length} characters)` : spelling;
  return value === undefined
    ? one(
        `id-${id}`,
        `${short} is not an int64`,
        { body: `{"id":${spelling},"name":"x"}` },
        plantInvalid(spelling.startsWith('"') ? idIsString : idIsNoInt64),
      )
    : one(
        `id-${id}`,
        `${short} is ${value}`,
        { body: `{"id":${spelling},"name":"x"}` },
        created({ name: 'x' }, { id: value, name: 'x' }),
      );
});

const notJson: ContractCase[] = [
  one('json-empty', 'an empty body', { body: '' }, bodyNotJson(/empty/)),
  one('json-no-body', 'no body at all', {}, bodyNotJson(/empty/)),
  one('json-bom-alone', 'a byte order mark and nothing else', { body: '\ufeff' }, bodyNotJson()),
  one(
    'json-two-boms',
    'a second byte order mark is not white space',
    { body: `\ufeff\ufeff${rose}` },
    bodyNotJson(),
  ),
  one('json-white-space', 'white space alone', { body: ' \n' }, bodyNotJson()),
  one('json-truncated', 'half a plant', { body: '{"id":1,"name":"Ro' }, bodyNotJson()),
  one('json-trailing', 'something after the plant', { body: `${rose}{}` }, bodyNotJson()),
  one('json-trailing-comma', 'a comma too many', { body: '{"id":1,"name":"x",}' }, bodyNotJson()),
  one('json-single-quotes', 'single quotes', { body: "{'id':1,'name':'x'}" }, bodyNotJson()),
  one('json-nan', 'NaN is no number of JSON', { body: '{"id":NaN,"name":"x"}' }, bodyNotJson()),
  one('json-leading-zero', '01 is no number of JSON', { body: '{"id":01,"name":"x"}' }, bodyNotJson()),
  one('json-plus', '+1 is no number of JSON', { body: '{"id":+1,"name":"x"}' }, bodyNotJson()),
  one('json-bare-point', '1. is no number of JSON', { body: '{"id":1.,"name":"x"}' }, bodyNotJson()),
  one('json-hex', '0x10 is no number of JSON', { body: '{"id":0x10,"name":"x"}' }, bodyNotJson()),
  one(
    'json-raw-newline',
    'a control character in a string',
    { body: '{"id":1,"name":"a\nb"}' },
    bodyNotJson(),
  ),
  one('json-form', 'a form', { body: 'id=1&name=x' }, bodyNotJson()),
  one('json-deep-open', '100 000 open brackets', { body: '['.repeat(100_000) }, bodyNotJson()),
  one(
    'utf8-invalid',
    'a byte that UTF-8 does not have',
    { body: bytes('{"id":1,"name":"', 0xff, '"}') },
    bodyNotJson(/UTF-8/),
  ),
  one('utf8-cut', 'a character that is cut in two', { body: bytes(rose, 0xe2, 0x82) }, bodyNotJson(/UTF-8/)),
  one(
    'utf8-surrogate',
    'a surrogate that was encoded as if it were UTF-8',
    { body: bytes('{"id":1,"name":"', 0xed, 0xa0, 0xbd, '"}') },
    bodyNotJson(/UTF-8/),
  ),
  one(
    'utf8-overlong',
    'an overlong slash',
    { body: bytes('{"id":1,"name":"', 0xc0, 0xaf, '"}') },
    bodyNotJson(/UTF-8/),
  ),
  one(
    'utf16',
    'UTF-16',
    { body: bytes(0xff, 0xfe, ...[...rose].flatMap((character) => [character, 0])) },
    bodyNotJson(/UTF-8/),
  ),
];

const notPlants: ContractCase[] = [
  ...(
    [
      ['null', 'null'],
      ['array', '[]'],
      ['array-of-plants', `[${rose}]`],
      ['string', '"plant"'],
      ['number', '1'],
      ['true', 'true'],
      ['deep-array', '['.repeat(100_000) + ']'.repeat(100_000)],
    ] as const
  ).map(([id, body]) =>
    one(
      `plant-${id}`,
      `JSON that is no object: ${id}`,
      { body },
      plantInvalid(/the body must be a JSON object/),
    ),
  ),
  one(
    'plant-empty',
    'the message names every missing member',
    { body: '{}' },
    plantInvalid(
      /^Not a NewPlant: id must be an integer from -9223372036854775808 to 9223372036854775807; name must be a string without U\+0000 and lone surrogates\.$/,
    ),
  ),
  one('plant-no-id', 'id is required', { body: '{"name":"x"}' }, plantInvalid(/: id must be [^;]*$/)),
  one('plant-no-name', 'name is required', { body: '{"id":1}' }, plantInvalid(/: name must be [^;]*$/)),
  one(
    'plant-all-wrong',
    'the message names every wrong member',
    { body: '{"id":"1","name":2,"tag":false}' },
    plantInvalid(/: id must be .*; name must be .*; tag must be .*, or absent\.$/),
  ),
  one(
    'plant-id-in-proto',
    'a member of __proto__ is not a member of the plant',
    { body: '{"__proto__":{"id":1,"name":"x"}}' },
    plantInvalid(/: id must be .*; name must be /),
  ),
  one('plant-name-null', 'null is not a string', { body: '{"id":1,"name":null}' }, plantInvalid(/: name /)),
  one('plant-name-number', 'nothing is coerced', { body: '{"id":1,"name":1}' }, plantInvalid(/: name /)),
  one(
    'plant-tag-null',
    'a tag of null is not absent',
    { body: '{"id":1,"name":"x","tag":null}' },
    plantInvalid(/: tag /),
  ),
  one(
    'plant-tag-array',
    'a list of tags',
    { body: '{"id":1,"name":"x","tag":["a"]}' },
    plantInvalid(/: tag /),
  ),
  one(
    'plant-name-case',
    'names of members are exact',
    { body: '{"id":1,"Name":"x"}' },
    plantInvalid(/: name /),
  ),
  one(
    'plant-name-nul',
    'U+0000, which PostgreSQL cannot keep',
    { body: '{"id":1,"name":"a\\u0000b"}' },
    plantInvalid(/: name must be a string without U\+0000/),
  ),
  one(
    'plant-tag-nul',
    'U+0000 in a tag',
    { body: '{"id":1,"name":"x","tag":"\\u0000"}' },
    plantInvalid(/: tag /),
  ),
  ...(
    [
      ['high', '\\ud83c'],
      ['low', '\\udf39'],
      ['swapped', '\\udf39\\ud83c'],
      ['high-in-text', 'rose \\uD83C rose'],
    ] as const
  ).flatMap(([id, spelling]) => [
    one(
      `plant-name-surrogate-${id}`,
      `a lone surrogate in the name, ${spelling}`,
      { body: `{"id":1,"name":"${spelling}"}` },
      plantInvalid(/: name must be a string without U\+0000 and lone surrogates/),
    ),
    one(
      `plant-tag-surrogate-${id}`,
      `a lone surrogate in the tag, ${spelling}`,
      { body: `{"id":1,"name":"x","tag":"${spelling}"}` },
      plantInvalid(/: tag must be /),
    ),
  ]),
  ...(
    [
      ['id', '{"id":1,"id":1,"name":"x"}', 'id'],
      ['id-apart', '{"id":1,"name":"x","id":2}', 'id'],
      ['id-escaped', '{"id":1,"name":"x","\\u0069d":2}', 'id'],
      ['id-both-escaped', '{"\\u0069d":1,"name":"x","i\\u0064":2}', 'id'],
      ['name', '{"id":1,"name":"x","name":"x"}', 'name'],
      ['name-escaped', '{"id":1,"name":"x","n\\u0061me":"y"}', 'name'],
      ['name-fully-escaped', '{"id":1,"\\u006E\\u0061\\u006d\\u0065":"x","name":"y"}', 'name'],
      ['tag', '{"id":1,"name":"x","tag":"a","tag":"b"}', 'tag'],
      ['tag-escaped', '{"id":1,"name":"x","tag":"a","\\u0074ag":"b"}', 'tag'],
      ['after-wrong', '{"id":"1","id":1,"name":"x"}', 'id'],
      ['after-quotes', '{"id":1,"x":"\\"","name":"x\\\\","id":2}', 'id'],
      ['after-nested', '{"id":1,"x":{"id":[{"id":3}]},"name":"x","id":2}', 'id'],
    ] as const
  ).map(([id, body, member]) =>
    one(
      `twice-${id}`,
      `${member} given twice: ${body}`,
      { body },
      plantInvalid(new RegExp(`${member} must be given once`)),
    ),
  ),
  one(
    'twice-all',
    'the message names every member that came twice, beside those that are wrong',
    { body: '{"id":1,"id":1,"name":"x","name":2}' },
    plantInvalid(/: name must be a string.*; id must be given once; name must be given once\.$/),
  ),
];

const tokens: ContractCase[] = [
  one('token-none', 'no Authorization header', withToken(null), tokenMissing()),
  one('token-basic', 'another scheme', withToken('Basic cm9zZTpyb3Nl'), tokenMissing()),
  one('token-glued', 'a scheme that begins like Bearer', withToken('Bearergood'), tokenMissing()),
  one('token-raw', 'a token without a scheme', withToken('good'), tokenMissing()),
  one('token-alone', 'Bearer alone', withToken('Bearer'), tokenInvalid()),
  one('token-two', 'two tokens', withToken('Bearer good good'), tokenInvalid()),
  one('token-list', 'two credentials in one header', withToken('Bearer good, Bearer good'), tokenInvalid()),
  one('token-quoted', 'a character that token68 does not have', withToken('Bearer "good"'), tokenInvalid()),
  one('token-padding-first', 'padding comes last in token68', withToken('Bearer =good'), tokenInvalid()),
  one('token-tab', 'the scheme ends at a space', withToken('Bearer\tgood'), tokenMissing()),
  one('token-unknown', 'a token that the verifier turns down', withToken('Bearer nobody'), tokenInvalid()),
  one('token-case', 'tokens are compared exactly', withToken('Bearer GOOD'), tokenInvalid()),
  one('token-null', 'null from the verifier', withToken('Bearer null'), tokenInvalid()),
  one('token-undefined', 'undefined from the verifier', withToken('Bearer undefined'), tokenInvalid()),
  one('token-promised-null', 'a promise of null', withToken('Bearer promised-null'), tokenInvalid()),
  one('token-lower-case', 'the scheme is case-insensitive', withToken('bearer good.lower'), roseCreated),
  one('token-upper-case', 'the scheme is case-insensitive', withToken('BEARER  good.upper'), roseCreated),
  one('token-characters', 'all that token68 has', withToken('Bearer good-._~+/AZaz09=='), roseCreated),
  one('token-promised', 'a verifier that promises', withToken('Bearer promised-good'), roseCreated),
  one(
    'scope',
    'a good token without the scope',
    withToken('Bearer scopeless'),
    scopeInsufficient(undefined, {
      headers: {
        'www-authenticate':
          'Bearer realm="plants", error="insufficient_scope", scope="plants:write plants:read"',
      },
    }),
  ),
  one(
    'scope-promised',
    'a promise that rejects with InsufficientScope',
    withToken('Bearer promised-scopeless'),
    scopeInsufficient(undefined, {
      headers: {
        'www-authenticate': 'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
      },
    }),
  ),
  one('outage', 'an outage is never a 401', withToken('Bearer outage'), verificationFailed()),
  one('outage-promised', 'an outage that rejects', withToken('Bearer promised-outage'), verificationFailed()),
];

const media: ContractCase[] = [
  one('type-none', 'no Content-Type', withType(null), mediaTypeUnsupported(/application\/json/)),
  one(
    'type-text',
    'the message names what came and what is expected',
    withType('text/plain'),
    mediaTypeUnsupported(/application\/json.*text\/plain/),
  ),
  one('type-form', 'a form', withType('application/x-www-form-urlencoded'), mediaTypeUnsupported()),
  one(
    'type-patch',
    'a type that begins alike',
    withType('application/json-patch+json'),
    mediaTypeUnsupported(),
  ),
  one('type-suffix', 'a +json type', withType('application/vnd.plants+json'), mediaTypeUnsupported()),
  one('type-text-json', 'text/json', withType('text/json'), mediaTypeUnsupported()),
  one('type-two', 'two types', withType('application/json, text/plain'), mediaTypeUnsupported()),
  one('type-charset', 'parameters are ignored', withType('application/json; charset=utf-8'), roseCreated),
  one('type-parameter', 'any of them', withType('application/json ;q="a;b"; x=y'), roseCreated),
  one('type-semicolon', 'a bare semicolon', withType('application/json;'), roseCreated),
  one('type-case', 'types are case-insensitive', withType('Application/JSON'), roseCreated),
  one('encoding-gzip', 'gzip', withHeaders({ 'content-encoding': 'gzip' }), mediaTypeUnsupported(/gzip/)),
  one(
    'encoding-two',
    'gzip after all',
    withHeaders({ 'content-encoding': 'identity, gzip' }),
    mediaTypeUnsupported(/gzip/),
  ),
  one(
    'encoding-identity',
    'identity changes nothing',
    withHeaders({ 'content-encoding': 'identity' }),
    roseCreated,
  ),
  one(
    'encoding-case',
    'codings are case-insensitive',
    withHeaders({ 'content-encoding': 'Identity' }),
    roseCreated,
  ),
];

const sizes: ContractCase[] = [
  one(
    'size-one-over',
    'one byte more than 1 MiB',
    { body: padded(mebibyte + 1) },
    bodyTooLarge(/1048576 bytes/),
  ),
  one('size-double', 'twice the limit', { body: padded(2 * mebibyte) }, bodyTooLarge()),
];

const targets: ContractCase[] = [
  one(
    'path-slash',
    '/plants/ is another path',
    { path: '/plants/', body: rose },
    notFound(/POST .*\/plants/),
  ),
  one('path-case', 'paths are case-sensitive', { path: '/Plants', body: rose }, notFound()),
  one('path-longer', '/plantsX is another path', { path: '/plantsX', body: rose }, notFound()),
  one('path-below', '/plants/1 is another path', { path: '/plants/1', body: rose }, notFound()),
  one('path-double-slash', '//plants is another path', { path: '//plants', body: rose }, notFound()),
  one('path-semicolon', 'parameters of a segment count', { path: '/plants;v=1', body: rose }, notFound()),
  one('path-other', 'another path', { path: '/trees', body: rose }, notFound()),
  one('path-get', 'another path with another method', { method: 'GET', path: '/trees' }, notFound()),
  one(
    'path-head',
    'an answer to HEAD has no body',
    { method: 'HEAD', path: '/trees' },
    { status: 404, headers: { allow: null }, body: '' },
  ),
  one('method-get', 'GET', { method: 'GET' }, methodNotAllowed()),
  one('method-options', 'OPTIONS', { method: 'OPTIONS' }, methodNotAllowed()),
  one('method-delete', 'DELETE', { method: 'DELETE' }, methodNotAllowed()),
  one('method-put', 'PUT with a plant', { method: 'PUT', body: rose }, methodNotAllowed()),
  one('method-patch', 'PATCH with a plant', { method: 'PATCH', body: rose }, methodNotAllowed()),
  one('method-query', 'GET with a query', { method: 'GET', path: '/plants?id=1' }, methodNotAllowed()),
  one(
    'method-head',
    'an answer to HEAD has no body',
    { method: 'HEAD' },
    { status: 405, headers: { allow: 'POST' }, body: '' },
  ),
];

const storage: ContractCase[] = [
  one('id-taken', 'a plant with this id exists', { body: rose }, idTaken(/id 1 exists/), { body: rose }),
  one(
    'id-taken-other-plant',
    'the first plant stays as it was',
    { body: '{"id":1,"name":"other"}' },
    idTaken(),
    { body: rose },
  ),
  one(
    'id-taken-other-spelling',
    'the id counts, not its spelling',
    { body: '{"id":10e-1,"name":"x"}' },
    idTaken(),
    { body: rose },
  ),
  one(
    'id-taken-beyond-2-53',
    'the message has the exact id',
    { body: '{"id":9007199254740993,"name":"x"}' },
    idTaken(/9007199254740993/),
    { body: '{"id":9007199254740993,"name":"x"}' },
  ),
  one(
    'storage-refused',
    'the message of PlantRefused is shown',
    { body: '{"id":1,"name":"refuse me"}' },
    plantRefused(/^name is on the list of refused names$/),
  ),
  one(
    'storage-busy',
    'no room to queue more',
    { body: '{"id":1,"name":"be busy"}' },
    busy(/Nothing was stored/),
  ),
  one(
    'storage-failed',
    'the storage threw',
    { body: '{"id":1,"name":"fail"}' },
    storageFailed(/may or may not/),
  ),
  one(
    'storage-nonsense',
    'the storage answered neither created nor taken',
    { body: '{"id":1,"name":"answer nonsense"}' },
    storageFailed(/may or may not/),
  ),
];

const order: ContractCase[] = [
  one(
    'order-path',
    'path before method and token',
    { method: 'PUT', path: '/x', headers: { authorization: null } },
    notFound(),
  ),
  one(
    'order-method',
    'method before token',
    { method: 'PUT', headers: { authorization: null } },
    methodNotAllowed(),
  ),
  one(
    'order-token',
    'token before media type and body',
    { headers: { authorization: null, 'content-type': 'text/plain' }, body: 'nonsense' },
    tokenMissing(),
  ),
  one(
    'order-verified',
    'the verifier before media type and body',
    { headers: { authorization: 'Bearer nobody', 'content-type': 'text/plain' }, body: 'nonsense' },
    tokenInvalid(),
  ),
  one(
    'order-type',
    'media type before length',
    { headers: { 'content-type': 'text/plain' }, body: padded(mebibyte + 1) },
    mediaTypeUnsupported(),
  ),
  one('order-length', 'length before JSON', { body: 'x'.repeat(mebibyte + 1) }, bodyTooLarge()),
  one(
    'order-plant',
    'the plant before the storage',
    { body: '{"id":1,"name":"fail","tag":0}' },
    plantInvalid(),
  ),
];

export const contractCases: readonly ContractCase[] = [
  ...creations,
  ...ids,
  ...notJson,
  ...notPlants,
  ...tokens,
  ...media,
  ...sizes,
  ...targets,
  ...storage,
  ...order,
];
