// An e2e test of a Nest app, by supertest. It mounts what main.ts mounts, with another token service.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { toExpress } from 'plant-store/express';
import request from 'supertest';
import { PlantsModule, PlantsService, TokenService } from './nest-plants.js';

let app: INestApplication;

before(async () => {
  const testing = Test.createTestingModule({ imports: [PlantsModule] });
  const users = { callerOf: async (token: string) => (token === 'of-a-test' ? { user: 'test' } : null) };
  const module = await testing.overrideProvider(TokenService).useValue(users).compile();
  app = module.createNestApplication();
  app.use('/api', toExpress(app.get(PlantsService).handle)); // before init, which mounts Nest's parser
  await app.init();
});

after(() => app.close());

const create = (body: string, token = 'of-a-test') =>
  request(app.getHttpServer())
    .post('/api/plants')
    .set({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' })
    .send(body); // a text, because JSON.stringify would round the id

test('two ids that a double cannot tell apart are two plants', async () => {
  for (const id of ['9007199254740992', '9007199254740993']) {
    const { status, body } = await create(`{"id":${id},"name":"Rosa canina"}`);
    assert.deepEqual({ status, body }, { status: 200, body: { name: 'Rosa canina' } });
  }
});

test('the token of main.ts is no token of this test', async () => {
  const { status, body } = await create('{"id":1,"name":"Rosa canina"}', 'secret');
  assert.deepEqual([status, body.error], [401, 40102]);
});
