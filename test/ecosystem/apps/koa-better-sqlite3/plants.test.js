const assert = require('node:assert/strict');
const jwt = require('jsonwebtoken');
const { after, before, describe, it } = require('mocha');
const request = require('supertest');
const { app, database, storage } = require('./app');

const token = (secret = process.env.SECRET) => jwt.sign({ sub: 'jane' }, secret);
const rows = () => database.prepare('SELECT * FROM plants').safeIntegers().all();

describe('plants', () => {
  let server;
  before(async () => {
    await storage.check({ context: { caller: { subject: 'nobody' } } });
    server = app.listen(0);
  });
  after(() => {
    server.close();
    database.close();
  });
  const create = (body) => request(server).post('/api/plants').type('json').send(body);

  it('stores a plant under its exact id, with the user in the column of the app', async () => {
    const body = '{"id":9007199254740993,"name":"Monstera"}';
    const sent = create(body).set('Origin', 'http://garden.example');
    const response = await sent.auth(token(), { type: 'bearer' });
    assert.deepEqual([response.status, response.text], [200, '{"name":"Monstera"}']);
    assert.equal(response.headers['access-control-allow-origin'], 'http://garden.example');
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.deepEqual(rows(), [{ id: 9007199254740993n, name: 'Monstera', tag: null, created_by: 'jane' }]);
    const other = create(body.replace('Monstera', 'Fern')).auth(token(), { type: 'bearer' });
    assert.equal((await other).status, 400);
  });

  it('stores an exact id at both ends of int64', async () => {
    for (const id of [9223372036854775807n, -9223372036854775808n]) {
      const sent = create(`{"id":${id},"name":"Fern"}`).auth(token(), { type: 'bearer' });
      assert.equal((await sent).status, 200);
      assert.ok(rows().some((row) => row.id === id));
    }
  });

  it('requires a token, one that the app signed', async () => {
    const body = '{"id":2,"name":"Fern"}';
    assert.equal((await create(body)).status, 401);
    assert.equal((await create(body).auth(token('another secret'), { type: 'bearer' })).status, 401);
    assert.equal(rows().length, 3);
  });

  it('leaves the routes of the app as they were', async () => {
    assert.equal((await request(server).get('/api/plants')).status, 401);
    const mine = await request(server).get('/api/plants').auth(token(), { type: 'bearer' });
    assert.deepEqual(
      mine.body.map(({ id }) => id),
      ['-9223372036854775808', '9007199254740993', '9223372036854775807'],
    );
    assert.deepEqual((await request(server).post('/api/echo').send({ a: 1 })).body, { echo: { a: 1 } });
  });
});
