import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFastify } from 'plant-store/fastify';
import { memoryStorage } from 'plant-store/memory';

class AppModule {}
Module({})(AppModule); // your @Module({ … })

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), {
  logger: ['error'],
});
await app.register(toFastify(handle), { prefix: '/api' }); // POST /api/plants

await app.listen(process.env.PORT ?? 3000);
export const server = app.getHttpServer();
console.log(server.address());
