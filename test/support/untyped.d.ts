/** The parts that the tests use of packages without types. */
declare module 'koa-mount' {
  import type { Middleware } from 'koa';
  export default function mount(prefix: string, app: Middleware): Middleware;
}

declare module 'koa-bodyparser' {
  import type { Middleware } from 'koa';
  export default function bodyParser(options?: { enableTypes?: string[] }): Middleware;
}
