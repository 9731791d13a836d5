// A module that mounts the endpoint itself, on Express. Nest's parser comes before it, so rawBody keeps the bytes.
import 'reflect-metadata';
import { Inject, type MiddlewareConsumer, Module, type NestModule, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { toRoute } from 'plant-store/express';
import { PlantsModule, PlantsService } from './nest-plants.js';

@Module({ imports: [PlantsModule] })
class GardenModule implements NestModule {
  constructor(@Inject(PlantsService) private readonly plants: PlantsService) {}

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(toRoute(this.plants.handle)).forRoutes({ path: 'api/plants', method: RequestMethod.POST });
  }
}

const app = await NestFactory.create(GardenModule, { rawBody: true, logger: ['error'] });
await app.listen(process.env.PORT ?? 3000);
console.log(app.getHttpServer().address());
