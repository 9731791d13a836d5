import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSigner } from 'fast-jwt';
import { createApp } from './app.js';

let app;
let database;

before(async () => {
  ({ app, database } = await createApp());
});
after(() => app.close());

const bearer = (key = process.env.SECRET) => ({
  authorization: `Bearer ${createSigner({ key })({ sub: 'jane' })}`,
});
const create = (payload, headers) =>
  app.inject({
    method: 'POST',
    url: '/api/plants',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  });

test('a plant is stored under its exact id, with the user in the column of the app', async () => {
  const body = '{"id":9007199254740993,"name":"Monstera"}';
  const response = await create(body, bearer());
  assert.deepEqual([response.statusCode, response.body], [200, '{"name":"Monstera"}']);
  assert.equal(response.headers['access-control-allow-origin'], '*');
  assert.equal(response.headers['x-content-type-options'], 'nosniff');
  assert.deepEqual(await database('fastify_plants'), [
    { id: '9007199254740993', name: 'Monstera', tag: null, created_by: 'jane' },
  ]);
  assert.equal((await create(body.replace('Monstera', 'Fern'), bearer())).statusCode, 400);
});

test('an id is exact at both ends of int64', async () => {
  for (const id of ['9223372036854775807', '-9223372036854775808']) {
    const { statusCode } = await create(`{"id":${id},"name":"Fern"}`, bearer());
    const [row] = await database('fastify_plants').where('id', id);
    assert.deepEqual([statusCode, row?.id], [200, id]);
  }
});

test('a token is required, one that the app signed', async () => {
  const body = '{"id":2,"name":"Fern"}';
  assert.equal((await create(body)).statusCode, 401);
  assert.equal((await create(body, bearer('another secret'))).statusCode, 401);
  assert.deepEqual(await database('fastify_plants').where('id', '2'), []);
});

test('the routes of the app run as before', async () => {
  const list = { method: 'GET', url: '/api/plants' };
  assert.equal((await app.inject(list)).statusCode, 401);
  const mine = await app.inject({ ...list, headers: bearer() });
  assert.deepEqual(
    mine.json().map(({ id }) => id),
    ['-9223372036854775808', '9007199254740993', '9223372036854775807'],
  );
  const echo = (payload) => app.inject({ method: 'POST', url: '/api/echo', payload });
  assert.deepEqual((await echo({ a: 1 })).json(), { echo: { a: 1 } });
  assert.equal((await echo({ a: 'x' })).statusCode, 400);
});
