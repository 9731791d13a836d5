import { Body, Controller, type INestApplication, Module, Post, ValidationPipe } from '@nestjs/common';
import { IsInt } from 'class-validator';
import helmet from 'helmet';
import { toExpress } from 'plant-store/express';
import { PlantsModule, PlantsService } from './plants.module';

class EchoDto {
  @IsInt() a: number;
}

@Controller('echo')
class EchoController {
  @Post()
  echo(@Body() body: EchoDto): { echo: EchoDto } {
    return { echo: body };
  }
}

@Module({ imports: [PlantsModule], controllers: [EchoController] })
export class AppModule {}

/** What `main.ts` and the tests share. */
export function configure(app: INestApplication): INestApplication {
  app.use(helmet());
  app.enableCors();
  app.setGlobalPrefix('api');
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
  app.use('/api', toExpress(app.get(PlantsService).handle));
  return app;
}
