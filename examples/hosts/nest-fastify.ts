// src/main.ts on Fastify
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { toFastify } from 'plant-store/fastify';
import { PlantsModule, PlantsService } from './nest-plants.js';

const app = await NestFactory.create<NestFastifyApplication>(PlantsModule, new FastifyAdapter(), {
  logger: ['error'],
});
await app.register(toFastify(app.get(PlantsService).handle), { prefix: '/api' }); // POST /api/plants

await app.listen(process.env.PORT ?? 3000);
console.log(app.getHttpServer().address());
