import { fetch } from './contract-app.js';

declare const Deno: {
  serve(
    options: { port: number; onListen: (address: { port: number }) => void },
    handler: typeof fetch,
  ): void;
};

Deno.serve({ port: 0, onListen: ({ port }) => console.log({ port }) }, fetch);
