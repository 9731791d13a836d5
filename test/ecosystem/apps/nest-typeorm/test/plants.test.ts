import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Test } from '@nestjs/testing';
import { getRepositoryToken } from '@nestjs/typeorm';
import request from 'supertest';
import type { Repository } from 'typeorm';
import { AppModule, configure } from '../src/app';
import { Plant } from '../src/plants.module';

let app: INestApplication;
let plants: Repository<Plant>;

beforeAll(async () => {
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
  app = configure(module.createNestApplication());
  await app.init();
  plants = app.get(getRepositoryToken(Plant));
  await plants.clear();
});
afterAll(() => app.close());

const token = (secret = process.env.SECRET) => new JwtService().sign({ sub: 'jane' }, { secret });
const http = () => request(app.getHttpServer());
const create = (body: string) => http().post('/api/plants').type('json').send(body);

test('a plant is stored under its exact id, with the user in the column of the app', async () => {
  const body = '{"id":9007199254740993,"name":"Monstera","tag":"green"}';
  const response = await create(body).auth(token(), { type: 'bearer' });
  expect([response.status, response.text]).toEqual([200, '{"name":"Monstera","tag":"green"}']);
  expect(response.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  });
  expect(await plants.find()).toEqual([
    {
      id: '9007199254740993',
      name: 'Monstera',
      tag: 'green',
      createdBy: 'jane',
      createdAt: expect.any(Date),
    },
  ]);
  expect((await create(body.replace('green', 'red')).auth(token(), { type: 'bearer' })).status).toBe(400);
});

test('an id is exact at both ends of int64', async () => {
  for (const id of ['9223372036854775807', '-9223372036854775808']) {
    const { status } = await create(`{"id":${id},"name":"Fern"}`).auth(token(), { type: 'bearer' });
    expect([status, (await plants.findOneByOrFail({ id })).id]).toEqual([200, id]);
  }
  expect(await plants.count()).toBe(3);
});

test('a token is required, one that the app signed', async () => {
  const body = '{"id":2,"name":"Fern"}';
  expect((await create(body)).status).toBe(401);
  expect((await create(body).auth(token('another secret'), { type: 'bearer' })).status).toBe(401);
  expect(await plants.countBy({ id: '2' })).toBe(0);
});

test('the routes of the app run as before', async () => {
  expect((await http().get('/api/plants')).status).toBe(401);
  const mine = await http().get('/api/plants').auth(token(), { type: 'bearer' });
  expect(mine.body.map(({ id }: Plant) => id).sort()).toEqual([
    '-9223372036854775808',
    '9007199254740993',
    '9223372036854775807',
  ]);
  expect((await http().post('/api/echo').send({ a: 1 })).body).toEqual({ echo: { a: 1 } });
  expect((await http().post('/api/echo').send({ a: 'x' })).status).toBe(400);
});
