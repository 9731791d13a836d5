// TypeORM's pool and a tenant: each tenant has its own ids in one table, whose primary key is (tenant, id).
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { type PostgresOptions, postgresStorage, schemaOf } from 'plant-store/postgres';
import { DataSource } from 'typeorm';

interface Caller {
  readonly tenant: string;
}

const digest = (token: string) => createHash('sha256').update(token).digest('hex');

/** Your own: in place of this map, a session or the claims of a JWT. */
@Injectable()
class TokenService {
  readonly #callers = new Map<string, Caller>([
    [digest('secret'), { tenant: 'garden' }],
    [digest('park-secret'), { tenant: 'park' }],
  ]);

  callerOf(token: string): Caller | undefined {
    return this.#callers.get(digest(token));
  }
}

const options: PostgresOptions<Caller> = {
  table: 'garden_plants',
  namespace: { tenant: ({ caller }) => caller.tenant },
};

@Injectable()
class PlantsService implements OnModuleInit {
  readonly handle;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(TokenService) tokens: TokenService,
  ) {
    // Of a DataSource of type mysql, see the table in examples/README.md.
    const { master } = dataSource.driver as unknown as { master: Pool };
    const storage = postgresStorage(master, options);
    this.handle = createPlantStore(storage, (token) => tokens.callerOf(token));
  }

  /** In your app, a migration. */
  async onModuleInit(): Promise<void> {
    await this.dataSource.query(schemaOf(options));
  }
}

const { DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/postgres' } = process.env;
const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const dataSource = new DataSource({ type: 'postgres', url: DATABASE_URL, extra: timeouts });

@Module({
  providers: [
    // With @nestjs/typeorm, TypeOrmModule.forRoot provides it, and there is no useFactory.
    { provide: DataSource, useFactory: () => dataSource.initialize() },
    TokenService,
    PlantsService,
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] });
app.use('/api', toExpress(app.get(PlantsService).handle)); // POST /api/plants

await app.listen(process.env.PORT ?? 3000);
console.log(app.getHttpServer().address());
