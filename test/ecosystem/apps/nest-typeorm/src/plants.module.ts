import {
  Controller,
  Get,
  Headers,
  Injectable,
  Module,
  type OnModuleInit,
  UnauthorizedException,
} from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { createPlantStore } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';
import { Column, CreateDateColumn, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';

@Entity('nest_plants')
export class Plant {
  @PrimaryColumn('bigint') id: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) tag: string | null;
  @Column('text', { name: 'created_by' }) createdBy: string;
  @CreateDateColumn() createdAt: Date;
}

@Injectable()
export class Users {
  constructor(private readonly jwt: JwtService) {}

  /** Resolves with the user that a token was signed for, or with `null` if it is invalid. */
  async userOf(token: string): Promise<{ subject: string } | null> {
    const claims = await this.jwt.verifyAsync<{ sub: string }>(token).catch(() => null);
    return claims && { subject: claims.sub };
  }
}

@Injectable()
export class PlantsService implements OnModuleInit {
  readonly storage;
  readonly handle;

  constructor(@InjectDataSource() dataSource: DataSource, users: Users) {
    const { master } = dataSource.driver as unknown as { master: Pool };
    this.storage = postgresStorage<{ subject: string }>(master, {
      table: 'nest_plants',
      columns: { created_by: ({ caller }) => caller.subject },
    });
    this.handle = createPlantStore(this.storage, (token) => users.userOf(token));
  }

  async onModuleInit(): Promise<void> {
    await this.storage.check({ context: { caller: { subject: 'nobody' } } });
  }
}

@Controller('plants')
class PlantsController {
  constructor(
    @InjectRepository(Plant) private readonly plants: Repository<Plant>,
    private readonly users: Users,
  ) {}

  @Get()
  async mine(@Headers('authorization') authorization = ''): Promise<Plant[]> {
    const user = await this.users.userOf(authorization.replace(/^Bearer /, ''));
    if (!user) throw new UnauthorizedException();
    return this.plants.findBy({ createdBy: user.subject });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      useFactory: () => ({
        type: 'postgres',
        url: process.env.DATABASE_URL,
        entities: [Plant],
        synchronize: true,
      }),
    }),
    TypeOrmModule.forFeature([Plant]),
    JwtModule.registerAsync({
      useFactory: () => ({ secret: process.env.SECRET, verifyOptions: { algorithms: ['HS256'] } }),
    }),
  ],
  controllers: [PlantsController],
  providers: [PlantsService, Users],
})
export class PlantsModule {}
