// src/plants.module.ts: the token check is a service of yours, which Nest injects.
import { Inject, Injectable, Module } from '@nestjs/common';
import { createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

/** Your own: it may inject a repository, a cache, a ConfigService. */
@Injectable()
export class TokenService {
  async callerOf(token: string): Promise<{ user: string } | null> {
    return token === 'secret' ? { user: 'rosa' } : null;
  }
}

@Injectable()
export class PlantsService {
  constructor(@Inject(TokenService) private readonly tokens: TokenService) {}

  readonly handle = createPlantStore(memoryStorage(), (token) => this.tokens.callerOf(token));
}

@Module({ providers: [TokenService, PlantsService], exports: [PlantsService] })
export class PlantsModule {}
