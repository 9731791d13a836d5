import {
  BodyError,
  createPlantStore,
  type NewPlant,
  type PlantHandler,
  type PlantRequest,
  type PlantStoreOptions,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test, vi } from 'vitest';
import { operation } from '../../src/http.js';
import { createRequest, rose } from '../support/plants.js';

const good = createRequest('good');

function open(options: PlantStoreOptions = {}) {
  const plants = new Map<bigint, NewPlant>();
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error);
  };
  const handle = createPlantStore(memoryStorage(plants), (token) => token === 'good', {
    onError,
    ...options,
  });
  return { handle, plants, errors };
}

const errorOf = async (answer: ReturnType<PlantHandler>) => JSON.parse((await answer).body).error;
const boom = () => {
  throw new Error('boom');
};

describe('handle never rejects:', () => {
  test.each<[string, number, unknown]>([
    ['that is undefined', 50000, undefined],
    ['that is null', 50000, null],
    ['that is a string', 50000, 'POST /plants'],
    ['that is an empty object', 50000, {}],
    ['without headers', 50000, { ...good, headers: undefined }],
    ['whose url is no string', 50000, { ...good, url: 1 }],
    ['whose method is a getter that throws', 50000, throwing('method')],
    ['whose headers are a getter that throws', 50000, throwing('headers')],
    ['whose body is a getter that throws', 50003, throwing('body')],
    ['whose Authorization is a number', 40101, { ...good, headers: { ...good.headers, authorization: 7 } }],
    ['whose headers throw', 50000, { ...good, headers: new Proxy({}, { get: boom, ownKeys: boom }) }],
    ['whose every property throws', 50000, new Proxy({}, { get: boom })],
  ])('a request %s returns %i', async (_what, error, request) => {
    const { handle, plants, errors } = open();
    expect(await errorOf(handle(request as PlantRequest))).toBe(error);
    expect(errors).toHaveLength(error >= 50000 ? 1 : 0);
    expect(plants.size).toBe(0);
  });

  test.each<[string, object]>([
    ['a url', { ...good, url: undefined }],
    ['headers', { ...good, headers: undefined }],
    ['any member', {}],
  ])('onError is told what a request without %s must have', async (_what, request) => {
    const { handle, errors } = open();
    await handle(request as PlantRequest);
    expect(errors.map(String)).toEqual([expect.stringContaining('must have method, url and headers')]);
  });

  function throwing(name: keyof PlantRequest): PlantRequest {
    return Object.defineProperty({ ...good }, name, { get: boom });
  }
});

describe('the headers of a request', () => {
  const json = 'application/json';
  const sent: Record<string, string> = { authorization: 'Bearer good', 'content-type': json };
  test.each<[string, PlantRequest['headers']]>([
    ['a Headers object', new Headers(sent)],
    ['anything with get', { get: (name: string) => sent[name] ?? null }],
    ['a dictionary in lower case', sent],
    ['a dictionary as AWS Lambda sends it', { Authorization: 'Bearer good', 'Content-Type': json }],
    ['a dictionary in upper case', { AUTHORIZATION: 'Bearer good', 'CONTENT-TYPE': json }],
    ['lists of one', { authorization: ['Bearer good'], 'content-type': [json] }],
    ['a dictionary without a prototype', Object.assign(Object.create(null), good.headers)],
    ['a header that is called get', { ...good.headers, get: 'a value' }],
    ['a header that is called __proto__', JSON.parse(JSON.stringify(sent).replace('{', '{"__proto__":"x",'))],
    ['another header as long as Authorization', { ...good.headers, 'x-api-version': 'Bearer bad' }],
    ['undefined values', { ...good.headers, Authorization: undefined, 'content-length': undefined }],
    ['an empty Content-Encoding', { ...good.headers, 'content-encoding': '' }],
    ['an empty list of codings', { ...good.headers, 'content-encoding': [] }],
    ['a declared length of the limit', { ...good.headers, 'content-length': '1048576' }],
    // It is only a hint.
    ['a length that is not a number', { ...good.headers, 'content-length': 'long' }],
    ['a type between spaces', { ...good.headers, 'content-type': ' Application/JSON \t;charset=latin1' }],
    ['a coding between spaces', { ...good.headers, 'content-encoding': '  Identity  ' }],
  ])('are accepted, such as %s', async (_form, headers) => {
    expect((await open().handle({ ...good, headers })).status).toBe(200);
  });

  test('are read from a dictionary that inherits a function `get` of a legacy library', async () => {
    const { handle } = open();
    let response: ReturnType<PlantHandler>;
    // For this one call: nobody could define a property in the usual way.
    Object.defineProperty(Object.prototype, 'get', { value: () => 'of the library', configurable: true });
    try {
      response = handle({ ...good, headers: { authorization: 'Bearer bad' } });
    } finally {
      Reflect.deleteProperty(Object.prototype, 'get');
    }
    expect(await errorOf(response)).toBe(40102);
  });

  test.each<[string, number, PlantRequest['headers']]>([
    ['an empty list of tokens', 40101, { ...good.headers, authorization: [] }],
    ['a list of two schemes', 40102, { ...good.headers, authorization: ['Basic eDp5', 'Bearer good'] }],
    ['a list of two tokens', 40102, { ...good.headers, authorization: ['Bearer good', 'Bearer good'] }],
    ['two spellings of Authorization', 40102, { ...good.headers, Authorization: 'Bearer good' }],
    ['two spellings, the other first', 40102, { AUTHORIZATION: 'Bearer good', ...good.headers }],
    ['two spellings, one of them empty', 40102, { ...good.headers, Authorization: '' }],
    ['two spellings of a type', 40005, { ...good.headers, 'Content-Type': json }],
    [
      'two types in one, with parameters',
      40005,
      { ...good.headers, 'content-type': `${json};a=b, ${json};c=d` },
    ],
    [
      'two types whose quotes would hide the comma',
      40005,
      { ...good.headers, 'content-type': [`${json};a="`, '"'] },
    ],
    ['a quote that is not closed', 40005, { ...good.headers, 'content-type': `${json};a="b` }],
    ['a list of two types', 40005, { ...good.headers, 'content-type': [json, json] }],
    ['a list with a coding', 40005, { ...good.headers, 'content-encoding': ['identity', 'br'] }],
    ['a coding after chunked', 40005, { ...good.headers, 'transfer-encoding': 'chunked, gzip' }],
    ['a declared length over the limit', 40006, { ...good.headers, 'content-length': '1048577' }],
    ['a declared length beyond any number', 40006, { ...good.headers, 'content-length': '9'.repeat(400) }],
  ])('with %s cause the error %i', async (_what, error, headers) => {
    expect(await errorOf(open().handle({ ...good, headers }))).toBe(error);
  });
});

describe('a media type or a coding', () => {
  const expected = 'Send the body as application/json, without a Content-Encoding.';
  test.each<[name: string, value: string | undefined, shown: string | undefined]>([
    ['Content-Type', 'text/plain', 'text/plain'],
    ['Content-Type', ' text/plain ;charset="utf-8"\n;x', 'text/plain'],
    ['Content-Type', 'application/json, text/plain', 'application/json, text/plain'],
    ['Content-Type', 'application/jsonx', 'application/jsonx'],
    ['Content-Type', 'x-application/json', 'x-application/json'],
    ['Content-Type', 'x'.repeat(100), 'x'.repeat(100)],
    ['Content-Type', 'x'.repeat(101), undefined],
    ['Content-Type', undefined, undefined],
    ['Content-Type', '', undefined],
    ['Content-Type', '<b>text/plain', undefined],
    ['Content-Type', 'text/plain<b>', undefined],
    ['Content-Type', 'text//plain', undefined],
    ['Content-Type', 'text/plain,  text/plain', undefined],
    ['Content-Encoding', 'gzip,br, zstd', 'gzip,br, zstd'],
    ['Content-Encoding', 'identityx', 'identityx'],
    ['Content-Encoding', 'xidentity', 'xidentity'],
    ['Content-Encoding', '"gzip"', undefined],
  ])(
    'is rejected, and shown in the message if it is well formed, as in %s: %s',
    async (name, value, shown) => {
      const headers = { ...good.headers, [name.toLowerCase()]: value };
      const { status, body } = await open().handle({ ...good, headers });
      const received = shown ? `The ${name} is ${shown}.` : `The request has no usable ${name}.`;
      expect([status, JSON.parse(body)]).toEqual([400, { error: 40005, message: `${expected} ${received}` }]);
    },
  );
});

describe('the body of a request', () => {
  const bytes = new TextEncoder().encode(rose);
  async function* stream(...chunks: (string | ArrayBufferView)[]) {
    for (const chunk of chunks) {
      yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array);
    }
  }
  test.each<[string, () => PlantRequest['body']]>([
    ['text', () => rose],
    ['bytes', () => bytes],
    ['a Buffer', () => Buffer.from(rose)],
    ['a view into a larger buffer', () => Buffer.from(`xx${rose}xx`).subarray(2, -2)],
    ['a stream of bytes', () => stream(rose.slice(0, 9), rose.slice(9))],
    ['a stream with empty chunks', () => stream('', rose, '')],
    ['a stream of single bytes', () => stream(...[...bytes].map((byte) => Uint8Array.of(byte)))],
    // Joined element by element, they would lose every byte but one of each element.
    [
      'a stream of 16-bit units',
      () => stream(new Uint16Array(new TextEncoder().encode(rose.padEnd(30)).buffer)),
    ],
    ['a stream of DataViews', () => stream(new DataView(bytes.buffer, 0, 9), new DataView(bytes.buffer, 9))],
    ['a ReadableStream', () => new Blob([rose]).stream()],
    ['a parsed value', () => ({ parsed: JSON.parse(rose) })],
    ['a parsed value whose id is a bigint', () => ({ parsed: { id: 1n, name: 'Rosa canina' } })],
    ['a function that returns text', () => () => rose],
    ['a function that returns bytes', () => () => bytes],
    ['a function that returns a parsed value', () => () => ({ parsed: JSON.parse(rose) })],
    ['a function that promises text', () => async () => rose],
    ['a function that promises bytes', () => async () => bytes],
    ['a function that promises a parsed value', () => async () => ({ parsed: JSON.parse(rose) })],
    ['text with a byte order mark', () => `\ufeff${rose}`],
    ['bytes with a byte order mark', () => new TextEncoder().encode(`\ufeff${rose}`)],
  ])('can be %s', async (_form, body) => {
    const { handle, plants } = open();
    const answer = await handle({ ...good, body: body() });
    const headers = { 'content-type': 'application/json' };
    expect(answer).toEqual({ status: 200, headers, body: '{"name":"Rosa canina"}' });
    expect([...plants.values()]).toEqual([{ id: 1n, name: 'Rosa canina' }]);
  });

  test.each([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    'can be a parsed value whose id is %i, the last that no parser rounds',
    async (id) => {
      const { handle, plants } = open();
      expect((await handle({ ...good, body: { parsed: { id, name: 'Rosa canina' } } })).status).toBe(200);
      expect([...plants.keys()]).toEqual([BigInt(id)]);
    },
  );

  test('is read by one call of its function, with the limit, after the token is accepted', async () => {
    const limits: number[] = [];
    const body = (limit: number) => {
      limits.push(limit);
      return rose;
    };
    const { handle } = open({ bodyLimit: 77 });
    expect((await handle({ ...good, headers: { authorization: 'Bearer bad' }, body })).status).toBe(401);
    expect(limits).toEqual([]);
    expect((await handle({ ...good, body })).status).toBe(200);
    expect(limits).toEqual([77]);
  });

  const boundary = rose.padEnd(100);
  test.each<[string, (size: number) => PlantRequest['body']]>([
    ['text', (size) => rose.padEnd(size)],
    ['text beyond ASCII', (size) => `{"id":1,"name":"${'é'.repeat((size - 19) / 2)}x"}`],
    ['bytes', (size) => new TextEncoder().encode(rose.padEnd(size))],
    ['a stream', (size) => stream(boundary.slice(0, 60), boundary.slice(60), ' '.repeat(size - 100))],
    ['a function that returns text', (size) => () => rose.padEnd(size)],
    ['a function that returns bytes', (size) => () => new TextEncoder().encode(rose.padEnd(size))],
    [
      'a function that counts',
      (size) => (limit) => {
        if (size > limit) throw new BodyError('body_too_large');
        return rose;
      },
    ],
  ])('is limited in bytes if it is %s', async (_form, body) => {
    const { handle, errors } = open({ bodyLimit: 101 });
    expect((await handle({ ...good, body: body(101) })).status).toBe(200);
    expect(await errorOf(handle({ ...good, body: body(103) }))).toBe(40006);
    expect(errors).toEqual([]);
  });

  test.each([
    [100, undefined, 200],
    [101, undefined, 400],
    [60, 40, 200],
    [60, 41, 400],
  ])(
    'is limited too if it was parsed: a name of %s and a tag of %s characters return %i',
    async (name, tag, status) => {
      const { handle } = open({ bodyLimit: 100 });
      const parsed = { id: 1, name: 'x'.repeat(name), ...(tag && { tag: 'x'.repeat(tag) }) };
      const answer = await handle({ ...good, body: { parsed } });
      expect(answer.status).toBe(status);
      if (status === 400) expect(JSON.parse(answer.body).error).toBe(40006);
    },
  );

  test('is stopped, and not read further, if it is a stream over the limit', async () => {
    let given = 0;
    let returned = false;
    async function* endless() {
      try {
        for (;;) {
          given++;
          yield new Uint8Array(40);
        }
      } finally {
        returned = true;
      }
    }
    const { handle } = open({ bodyLimit: 100 });
    expect(await errorOf(handle({ ...good, body: endless() }))).toBe(40006);
    expect({ given, returned }).toEqual({ given: 3, returned: true });
  });

  const throwing =
    (...parameters: ConstructorParameters<typeof BodyError>) =>
    () => {
      throw new BodyError(...parameters);
    };
  const notBytes = 'the body must be bytes';
  const rounded =
    'a body parser rounded the id: mount plant-store before it, or keep rawBody as adapters/hosts/README.md#behind-a-body-parser shows';
  const brokenStream = (error: unknown) =>
    (async function* () {
      yield bytes;
      throw error;
    })();
  test.each<[what: string, error: number, body: unknown, explained?: string]>([
    ['null', 40001, null],
    ['an empty stream', 40001, stream()],
    ['a stream that fails after a whole plant', 50003, brokenStream(new Error('boom'))],
    ['a stream that breaks off after a whole plant', 40007, brokenStream(new BodyError('body_incomplete'))],
    ['a stream of strings', 50003, new Blob([rose]).stream().pipeThrough(new TextDecoderStream()), notBytes],
    ['a function that throws', 50003, boom],
    ['a function that throws body_too_large', 40006, throwing('body_too_large')],
    ['a function that rejects with body_incomplete', 40007, async () => throwing('body_incomplete')()],
    ['a function that throws body_unreadable', 50003, throwing('body_unreadable'), 'body_unreadable'],
    ['a function that throws the line to move', 50003, throwing('body_unreadable', 'move it'), 'move it'],
    ['a function that returns nothing', 50003, () => undefined],
    ['a function that promises null', 50003, async () => null],
    ['a number', 50003, 7, notBytes],
    ['a plant that is not marked as parsed', 50003, { id: 1, name: 'x' }],
    ['a parsed value of undefined', 40002, { parsed: undefined }],
    ['a parsed list', 40002, { parsed: [] }],
    ['a parsed string', 40002, { parsed: rose }],
    ['a parsed id that is a string', 40002, { parsed: { id: '1', name: 'x' } }],
    ['a parsed id with a fraction', 40002, { parsed: { id: 1.5, name: 'x' } }],
    ['a parsed id that is NaN', 40002, { parsed: { id: Number.NaN, name: 'x' } }],
    ['a parsed bigint beyond int64', 40002, { parsed: { id: 2n ** 63n, name: 'x' } }],
    ['a parsed id that was rounded', 50003, { parsed: { id: 2 ** 53, name: 'x' } }, rounded],
    ['a parsed negative id that was rounded', 50003, { parsed: { id: -(2 ** 53), name: 'x' } }],
    ['a parsed id of Infinity', 50003, { parsed: { id: Number.POSITIVE_INFINITY, name: 'x' } }],
    ['a parsed value whose getter throws', 50003, { parsed: new Proxy({ id: 1 }, { get: boom }) }],
  ])('causes an error if it is %s: %i', async (_what, error, body, explained) => {
    const { handle, plants, errors } = open();
    const answer = await handle({ ...good, body: body as PlantRequest['body'] });
    expect(JSON.parse(answer.body).error).toBe(error);
    expect(errors).toHaveLength(error >= 50000 ? 1 : 0);
    // `onError` gets the line of the app to change, and the client nothing of it.
    if (explained) expect(errors).toEqual([expect.objectContaining({ message: explained })]);
    expect(answer.body).not.toContain(explained ?? 'boom');
    expect(plants.size).toBe(0);
  });

  test('is complete after another body that was cut within a character', async () => {
    const { handle } = open();
    const cut = { ...good, body: Uint8Array.of(...bytes, 0xf0, 0x9f) };
    expect(await errorOf(handle(cut))).toBe(40001);
    expect((await handle(good)).status).toBe(200);
    const other = new TextEncoder().encode('{"id":2,"name":"🌹"}');
    expect((await handle({ ...good, body: other })).body).toBe('{"name":"🌹"}');
  });
});

describe('a request', () => {
  test('has neither the body nor the route that every object inherits from a legacy library', async () => {
    const { handle } = open();
    const { body, ...bodiless } = good;
    const inherited = { body, routed: true };
    for (const [name, value] of Object.entries(inherited))
      Object.defineProperty(Object.prototype, name, { value, configurable: true });
    try {
      expect(await errorOf(handle(bodiless))).toBe(40001);
      expect(await errorOf(handle({ ...good, url: '/others' }))).toBe(40401);
    } finally {
      for (const name of Object.keys(inherited)) Reflect.deleteProperty(Object.prototype, name);
    }
  });

  test.each<[string, string, number]>([
    ['', '/plants', 200],
    ['', '/plants?x', 200],
    ['', 'https://plants.example/plants?x', 200],
    ['', 'https://plants.example/plants#x', 404],
    ['', '/plants#', 404],
    ['', 'plants', 404],
    ['', '', 404],
    ['', 'https://plants.example', 404],
    ['', 'https://plants.example?/plants', 404],
    ['', '/api/plants', 404],
    ['/api', '/api/plants', 200],
    ['/api', 'http://localhost:3000/api/plants?x', 200],
    ['/api', '/plants', 404],
    ['/api/v1', '/api/v1/plants', 200],
    ['/api/v1', '/api/v2/plants', 404],
    // An absolute URL begins with its scheme: within a path it is a part of that path.
    ['/1', '/1a://b/plants', 404],
    ['/plants', '/plants/plants', 200],
    ['/plants', '/plants', 404],
  ])('with the basePath "%s" and the target "%s" returns %i', async (basePath, url, status) => {
    const answer = await open({ basePath }).handle({ ...good, url });
    expect(answer.status).toBe(status);
    if (status === 200) return;
    // Only a plain path is echoed.
    const path = /^(?:\w+:\/\/[^/?]+)?([\w./]*)(?:$|\?)/.exec(url)?.[1];
    const received = path ? ` The request was for ${path}.` : '';
    const message = `Not found. Use ${operation.method} ${basePath}${operation.path}.${received}`;
    expect(JSON.parse(answer.body).message).toBe(message);
  });
});

test.each(['a b', 'a,b', 'a=b', '"secret"', 'é', 'a%20b', '=', 'a\tb'])(
  'a token that is not token68 is a 401, although verifyToken would take any: %j',
  async (token) => {
    const verifyToken = vi.fn(() => true);
    const response = await createPlantStore(memoryStorage(), verifyToken)(createRequest(token));
    expect(response).toMatchObject({ status: 401 });
    expect(verifyToken).not.toHaveBeenCalled();
  },
);
