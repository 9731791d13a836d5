import {
  acceptTokens,
  createPlantStore,
  InsufficientScope,
  type PlantHandler,
  type PlantStorage,
  type PlantStoreOptions,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, test } from 'vitest';
import fc from '../support/properties.js';

const create = (options: unknown) => () =>
  createPlantStore(memoryStorage(), () => true, options as PlantStoreOptions);

function fail(): never {
  throw new Error('of a getter');
}

describe('an invalid option is a TypeError at once, which names the option', () => {
  const bad: Record<keyof PlantStoreOptions, readonly [must: string, values: readonly unknown[]]> = {
    basePath: [
      'a percent-encoded path that starts with "/" and does not end with one, such as "/api"',
      [
        ...['api', '/', '/api/', '//api', '/api//v1', '/api?x', '/api#x', 7, null, {}, ['/api']],
        // What no client sends like this: it sends something else, and the store would never be found.
        ...[...'ü \t\n"<{}\\|^`\0🌹'].map((character) => `/a${character}b`),
        ...['/a\n', '\n/a'],
        ...['/.', '/..', '/./a', '/a/../b', '/a/.', '/%2e', '/a/%2E%2e/b', '/.%2E'],
        ...['/%', '/%C', '/%zz', '/%c3%bc'],
      ],
    ],
    bodyLimit: [
      'an integer from 1 to 9007199254740991',
      [0, -1, 1.5, Number.NaN, '1024', 1024n, null, 2 ** 53],
    ],
    timeoutMs: ['an integer from 0 to 2147483647', [-1, 0.5, Number.POSITIVE_INFINITY, '30', 2 ** 31, null]],
    acceptReplays: ['true or false', [0, 1, 'true', null, {}]],
    onError: ['a function', [null, 'console', {}, true]],
  };
  const each = Object.entries(bad).flatMap(([name, [must, values]]) =>
    values.map((value) => [name, value, must] as const),
  );
  test.each(each)('%s cannot be %o', (name, value, must) => {
    expect(create({ [name]: value })).toThrow(TypeError);
    expect(create({ [name]: value })).toThrow(`${name} must be ${must}, got `);
  });

  test.each<[got: string, value: unknown]>([
    ['"5"', '5'],
    ['1.5', 1.5],
    ['NaN', Number.NaN],
    ['7n', 7n],
    ['null', null],
    ['""', ''],
    [`"${'5'.repeat(100)}"`, '5'.repeat(100)],
    // What may be a secret, or is long, is not shown.
    ['a string', '5'.repeat(101)],
    ['a string that looks like a URL or a connection string', 'postgres://jane:rose@localhost'],
    ['a string that looks like a URL or a connection string', 'password=rose'],
    ['an array of 2', ['rose', 'ilex']],
    ['an object', {}],
    ['an object', Object.create(null)],
    ['an object', new Proxy({}, { get: fail })],
    ['an object of class Map', new Map([['rose', 1]])],
    ['a function', () => {}],
    ['the function acceptTokens', acceptTokens],
    ['Symbol(five)', Symbol('five')],
  ])('timeoutMs is shown as %s', (got, timeoutMs) => {
    expect(create({ timeoutMs })).toThrow(
      new TypeError(`timeoutMs must be an integer from 0 to 2147483647, got ${got}`),
    );
  });

  test.each(['bodylimit', 'timeout', 'toString', '__proto__x', 'storage'])('%s is no option', (name) => {
    const known = 'basePath, bodyLimit, timeoutMs, acceptReplays, onError';
    expect(create({ [name]: 1 })).toThrow(new TypeError(`unknown option ${name}; the options are ${known}`));
  });

  test.each<[string, unknown]>([
    ['storage', undefined],
    ['storage', null],
    ['storage', {}],
    ['storage', { create: true }],
    ['verifyToken', undefined],
    ['verifyToken', 'token'],
  ])('the argument %s cannot be %o', (name, value) => {
    const [storage, verifyToken] = name === 'storage' ? [value, () => true] : [memoryStorage(), value];
    const make = () => createPlantStore(storage as PlantStorage, verifyToken as () => boolean);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(name);
  });

  test('acceptReplays needs storage.find', () => {
    const storage: PlantStorage = { create: async () => 'created' };
    const make = () => createPlantStore(storage, () => true, { acceptReplays: true });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(/acceptReplays.*find/);
  });
});

describe('a valid option is accepted', () => {
  const goodPaths = ['/.well-known', '/a.', '/..a', "/a-b_c~d!$&'()*+,;=:@e"];
  const good: Record<keyof PlantStoreOptions, readonly unknown[]> = {
    basePath: [undefined, '', '/api', '/api/v1', '/~rosa/%C3%A9.x', '/%C3%BC', '/...', ...goodPaths],
    bodyLimit: [undefined, 1, 2 ** 53 - 1],
    timeoutMs: [undefined, 0, 1, 2 ** 31 - 1],
    acceptReplays: [undefined, false, true],
    onError: [undefined, () => {}, async () => {}],
  };
  test.each(Object.entries(good).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    '%s can be %o',
    (name, value) => {
      expect(create({ [name]: value })()).toBeTypeOf('function');
    },
  );
});

test('a basePath that is accepted is one that clients send unchanged', async () => {
  const path = fc.array(
    fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('.', '..', '%2E', '%C3%BC', 'api')),
  );
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(path, async (segments) => {
      const basePath = segments.map((segment) => `/${segment}`).join('');
      let handle: PlantHandler;
      try {
        handle = create({ basePath })();
      } catch {
        return;
      }
      taken++;
      const url = new URL(`http://localhost${basePath}/plants`);
      expect(url.pathname).toBe(`${basePath}/plants`);
      // 401 and not 404: it was found.
      expect((await handle({ method: 'POST', url: url.href, headers: {} })).status).toBe(401);
    }),
    { numRuns: 1000 },
  );
  expect(taken).toBeGreaterThan(50);
});

describe('acceptTokens and InsufficientScope check their arguments', () => {
  const a =
    'acceptTokens: each token must be a string of A-Z a-z 0-9 - . _ ~ + / with "=" at its end only, got ';
  test.each<[string, unknown[], string]>([
    ['no token', [], 'acceptTokens requires at least one token'],
    ['an empty token', [''], `${a}an empty string`],
    ['a space', ['a b'], `${a}a string with " "`],
    ['a space behind another bearer', ['a bearer b'], `${a}a string with " "`],
    ['a trailing space', ['a '], `${a}a string with " "`],
    ['a quote', ['"a"'], `${a}a string with "\\""`],
    ['padding within', ['a=b'], `${a}a string with "="`],
    ['beyond ASCII', ['é'], `${a}a string with "é"`],
    ['a number', [7], `${a}7`],
    [
      'an array',
      [['a', 'b']],
      'acceptTokens: each token must be a string, got an array; pass the tokens one by one: acceptTokens(...tokens)',
    ],
    ['an environment without it', [undefined], `${a}undefined; is the environment variable set?`],
    ['an invalid token after a valid token', ['good', 'b\nad'], `${a}a string with "\\n"`],
  ])('acceptTokens throws for %s, and quotes no token', (_what, tokens, message) => {
    expect(() => acceptTokens(...(tokens as string[]))).toThrow(new TypeError(message));
  });

  test.each(['', ' ', 'a  b', ' a', 'a ', 'a"b', 'a\\b', 'é', 'a\r\nb'])(
    'InsufficientScope throws for the scope %j',
    (scope) => {
      expect(() => new InsufficientScope(scope)).toThrow(
        new TypeError('InsufficientScope requires a scope as in RFC 6749 §3.3, such as "plants:write"'),
      );
    },
  );

  test('InsufficientScope shows the missing scope in a log', () => {
    expect(new InsufficientScope('plants:write').message).toBe('the token lacks the scope plants:write');
  });
});
