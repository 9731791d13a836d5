// deno run --allow-net --allow-env examples/hosts/deno.ts
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

declare const Deno: { serve(options: { port: number }, fetch: unknown): { addr: { port: number } } };

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const server = Deno.serve({ port: Number(process.env.PORT ?? 3000) }, toFetch(handle));
console.log(server.addr);
