// As test/hosts/hosts.types.ts, for hosts of this folder.
import type { app as azure, HttpRequest } from '@azure/functions';
import type { INestApplication } from '@nestjs/common';
import type { toExpress } from 'plant-store/express';
import type { toFetch } from 'plant-store/fetch';

declare const forExpress: ReturnType<typeof toExpress>;
declare const fetch: ReturnType<typeof toFetch>;

export async function azureFunctions(app: typeof azure): Promise<void> {
  app.http('plants', {
    methods: ['POST'],
    handler: async (request: HttpRequest) => {
      const answer = await fetch(request);
      return { status: answer.status, headers: answer.headers, body: await answer.text() };
    },
  });
}

export function nestApps(app: INestApplication): void {
  app.use('/api', forExpress);
}
