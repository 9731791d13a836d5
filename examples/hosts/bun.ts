// bun examples/hosts/bun.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

declare const Bun: { serve(options: { fetch: unknown; port: number }): { url: URL } };

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const server = Bun.serve({ fetch: toFetch(handle), port: Number(process.env.PORT ?? 3000) });
console.log({ port: Number(server.url.port) });
