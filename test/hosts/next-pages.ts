/** What Next does around an API route of `pages/api`, without Next's 100 MB. The runtimes have a route handler in a real Next. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export type PageHandler = (
  request: IncomingMessage & { query: object; cookies: object; body: unknown },
  response: ServerResponse,
) => unknown;

/** What `pages/api/plants.ts` exports. */
export interface Page {
  readonly default: PageHandler;
  readonly config?: { readonly api: { readonly bodyParser: boolean } };
}

export function servePage({ default: handler, config }: Page, path = '/api/plants'): RequestListener {
  return async (request, response) => {
    const [pathname, query] = request.url!.split('?', 2);
    if (pathname !== path) return void response.writeHead(404).end();
    const parses = config?.api.bodyParser ?? true;
    const body = parses ? await parsed(request) : undefined;
    if (body instanceof SyntaxError) return void response.writeHead(400).end('Invalid body');
    // Next adds these as properties of the request, and runs the handler with it.
    const added = { query: Object.fromEntries(new URLSearchParams(query)), cookies: {} };
    Object.assign(request, { ...added, ...(parses && { body }) });
    await handler(request as Parameters<PageHandler>[0], response);
  };
}

/** Next's parser: JSON becomes a value, an empty body becomes `{}`. Next itself answers a body that is not JSON. */
async function parsed(request: IncomingMessage): Promise<unknown> {
  const whole = await text(request);
  if (request.headers['content-type'] !== 'application/json') return whole;
  try {
    return whole ? JSON.parse(whole) : {};
  } catch (error) {
    return error;
  }
}
