// A controller that delegates, on Express and on Fastify: Nest's guards, interceptors and Swagger apply to it.
import 'reflect-metadata';
import { Controller, Inject, Module, Post, type RawBodyRequest, Req, Res } from '@nestjs/common';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { PlantsModule, PlantsService } from './nest-plants.js';

@Controller('api')
class PlantsController {
  constructor(
    @Inject(PlantsService) private readonly plants: PlantsService,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  @Post('plants')
  async create(
    @Req() request: RawBodyRequest<{ headers: Record<string, string> }>,
    @Res() response: unknown,
  ): Promise<void> {
    const { headers, rawBody } = request;
    const { status, ...created } = await this.plants.handle({
      method: 'POST',
      url: '/plants',
      headers,
      body: rawBody,
    });
    const { httpAdapter } = this.host;
    for (const [name, value] of Object.entries(created.headers)) httpAdapter.setHeader(response, name, value);
    httpAdapter.reply(response, created.body, status);
  }
}

@Module({ imports: [PlantsModule], controllers: [PlantsController] })
class GardenModule {}

const options = { rawBody: true, logger: ['error' as const] };
const app = process.env.ON_FASTIFY
  ? await NestFactory.create(GardenModule, new FastifyAdapter(), options)
  : await NestFactory.create(GardenModule, options);
await app.listen(process.env.PORT ?? 3000);
console.log(app.getHttpServer().address());
