import jwt from 'jsonwebtoken';
import request from 'supertest';
import { app, storage } from '../src/app';
import { Plant, sequelize } from '../src/database';

const token = (secret = process.env.SECRET ?? '') => jwt.sign({ sub: 'jane' }, secret, { expiresIn: '1h' });
const create = (body: string) => request(app).post('/api/plants').type('json').send(body);

beforeAll(async () => {
  await sequelize.sync({ force: true });
  await storage.check({ context: { caller: { subject: 'nobody' } } });
});
afterAll(() => sequelize.close());

test('a plant is stored under its exact id, with the user in the column of the app', async () => {
  const body = '{"id":9007199254740993,"name":"Monstera"}';
  const response = await create(body).auth(token(), { type: 'bearer' });
  expect([response.status, response.text]).toEqual([200, '{"name":"Monstera"}']);
  expect(response.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  });
  const plant = await Plant.findByPk('9007199254740993', { rejectOnEmpty: true });
  expect(plant.toJSON()).toMatchObject({
    id: '9007199254740993',
    name: 'Monstera',
    tag: null,
    createdBy: 'jane',
  });
  expect((await create(body.replace('Monstera', 'Fern')).auth(token(), { type: 'bearer' })).status).toBe(400);
});

test('an id is exact at both ends of int64', async () => {
  for (const id of ['9223372036854775807', '-9223372036854775808']) {
    const { status } = await create(`{"id":${id},"name":"Fern"}`).auth(token(), { type: 'bearer' });
    expect([status, (await Plant.findByPk(id, { rejectOnEmpty: true })).id]).toEqual([200, id]);
  }
  expect(await Plant.count()).toBe(3);
});

test('a token is required, one that the app signed', async () => {
  const body = '{"id":2,"name":"Fern"}';
  expect((await create(body)).status).toBe(401);
  expect((await create(body).auth(token('another secret'), { type: 'bearer' })).status).toBe(401);
  expect(await Plant.count({ where: { id: '2' } })).toBe(0);
});

test('the routes of the app run as before', async () => {
  expect((await request(app).get('/api/plants')).status).toBe(401);
  const mine = await request(app).get('/api/plants').auth(token(), { type: 'bearer' });
  expect(mine.body.map(({ id }: Plant) => id)).toEqual([
    '-9223372036854775808',
    '9007199254740993',
    '9223372036854775807',
  ]);
  expect((await request(app).post('/api/echo').send({ a: 1 })).body).toEqual({ echo: { a: 1 } });
});
