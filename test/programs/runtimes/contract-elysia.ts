// @ts-expect-error: installed only for this test
import { Elysia } from 'elysia';
import { fetch } from './contract-app.js';

const app = new Elysia().mount(fetch).listen(0);
console.log({ port: app.server.port });
