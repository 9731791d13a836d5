// src/main.ts on Express
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { toExpress } from 'plant-store/express';
import { PlantsModule, PlantsService } from './nest-plants.js';

const app = await NestFactory.create(PlantsModule, { logger: ['error'] }); // your AppModule, which imports PlantsModule
app.use('/api', toExpress(app.get(PlantsService).handle)); // POST /api/plants

await app.listen(process.env.PORT ?? 3000);
console.log(app.getHttpServer().address());
