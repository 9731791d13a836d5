import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

class AppModule {}
Module({})(AppModule); // your @Module({ … })

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = await NestFactory.create(AppModule, { rawBody: true, logger: ['error'] });
app.use('/api', toExpress(handle)); // POST /api/plants

await app.listen(process.env.PORT ?? 3000);
console.log(app.getHttpServer().address());
