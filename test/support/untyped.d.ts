/** The parts that the tests use of packages without types. */
declare module 'koa-mount' {
  import type { Middleware } from 'koa';
  export default function mount(prefix: string, app: Middleware): Middleware;
}

declare module 'koa-bodyparser' {
  import type { Middleware } from 'koa';
  export default function bodyParser(options?: { enableTypes?: string[] }): Middleware;
}

/** Of workerd, with the bindings of the examples. */
declare module 'cloudflare:workers' {
  import type { D1Binding, DurableObjectSqlite } from '../../adapters/storages/_sqlite/handles.js';
  export const env: {
    readonly DB: D1Binding;
    readonly TOKEN: string;
    readonly GARDEN: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
  };
  export class DurableObject {
    readonly ctx: { readonly storage: DurableObjectSqlite };
    fetch(request: Request): Promise<Response>;
  }
}

/** Of OpenNext, with a binding of the examples. */
declare module '@opennextjs/cloudflare' {
  import type { D1Binding } from '../../adapters/storages/_sqlite/handles.js';
  export function getCloudflareContext(options: {
    async: true;
  }): Promise<{ env: { readonly DB: D1Binding } }>;
}
