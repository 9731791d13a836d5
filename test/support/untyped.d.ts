/** The parts that the tests use of packages without types. */
declare module 'koa-mount' {
  import type { Middleware } from 'koa';
  export default function mount(prefix: string, app: Middleware): Middleware;
}

declare module 'koa-bodyparser' {
  import type { Middleware } from 'koa';
  export default function bodyParser(options?: { enableTypes?: string[] }): Middleware;
}

/** Packages that a heavy suite installs. */
declare module '@aws-sdk/client-dynamodb';

declare module 'jsonwebtoken' {
  class JsonWebTokenError extends Error {}
  function sign(claims: object, secret: string, options?: { expiresIn?: number }): string;
  function verify(
    token: string,
    secret: string,
    options: { algorithms: string[]; audience: string },
  ): { readonly sub?: string };
  export default { JsonWebTokenError, sign, verify };
}
