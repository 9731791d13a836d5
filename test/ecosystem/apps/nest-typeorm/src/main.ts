import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule, configure } from './app';

async function bootstrap(): Promise<void> {
  const app = configure(await NestFactory.create(AppModule, { logger: ['error', 'warn'] }));
  await app.listen(process.env.PORT ?? 3000);
  console.log(`Listening on http://127.0.0.1:${app.getHttpServer().address().port}`);
}

bootstrap();
