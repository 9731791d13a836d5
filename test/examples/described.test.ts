// A URL, a token or a connection string in the place of another argument is described in the error, and never quoted.
import { acceptTokens, createPlantStore, guard } from 'plant-store';
import { createPlantClient } from 'plant-store/client';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';
import { expect, test } from 'vitest';
import { filesOf } from '../../examples/server/init.js';
import { schemaOf } from '../../examples/server/schema.js';
import { readAuditOptions } from '../../examples/server/settings.js';

// biome-ignore lint/suspicious/noExplicitAny: the types refuse each of these lines
const wrong = (value: unknown) => value as any;

const secrets = [
  'postgres://ann:hidden@db.example/plants',
  'ann:hidden@db.example',
  'password=hidden',
  'hidden-Token_1.2~x==',
];
const verify = acceptTokens('secret');
const lines: Record<string, (secret: string) => unknown> = {
  'createPlantStore, as the storage': (secret) => createPlantStore(wrong(secret), verify),
  'createPlantStore, as the verifier': (secret) => createPlantStore(memoryStorage(), wrong(secret)),
  'createPlantClient, as the URL': (secret) => createPlantClient(secret, { token: 'x' }),
  'createPlantClient, as the token': (secret) =>
    createPlantClient('https://example.com', { token: `${secret} ` }),
  'guard, as the function': (secret) => guard(verify, wrong(secret)),
  'toExpress, as the handler': (secret) => toExpress(wrong(secret)),
  'init, as the host': (host) => filesOf({ host, database: undefined }, '.'),
  'init, as the database': (database) => filesOf({ host: 'koa', database }, '.'),
  'schema, as the database': (secret) => schemaOf(secret),
  'audit, as the URL': (secret) => readAuditOptions(wrong({ token: 'x' }), secret, {}),
  'audit, as the ids': (ids) => readAuditOptions(wrong({ token: 'x', ids }), 'https://example.com', {}),
};
const rows = Object.entries(lines).flatMap(([line, call]) =>
  secrets.map((secret) => [line, secret, call] as const),
);

test.each(rows)('the error of %s does not quote %s', (_line, secret, call) => {
  expect(() => call(secret)).toThrow();
  expect(() => call(secret)).not.toThrow(/hidden/);
});

test('an option that is a URL is not quoted', () => {
  const create = () =>
    createPlantStore(memoryStorage(), verify, { basePath: 'https://ann:hidden@example.com' });
  expect(create).toThrow('basePath must be');
  expect(create).not.toThrow(/hidden/);
});

test.each(['https://ann:hidden@staging.example/api', 'https://staging.example/api?key=hidden'])(
  'audit takes no URL with a user or a query: %s',
  (url) => {
    const read = () => readAuditOptions(wrong({ token: 'x' }), url, {});
    expect(read).toThrow('audit requires the URL before /plants, without a user and a query');
    expect(read).not.toThrow(/hidden/);
  },
);
