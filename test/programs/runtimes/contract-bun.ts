import { fetch } from './contract-app.js';

declare const Bun: { serve(options: { port: number; fetch: typeof fetch }): { port: number } };

console.log({ port: Bun.serve({ port: 0, fetch }).port });
