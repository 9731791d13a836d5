/**
 * What Next does around a handler, without Next's 100 MB: its routing, its `Request`, its body parser for pages. Next
 * itself answers 405 to a method that a route does not export, and 404 to another path.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export type RouteHandler = (
  request: Request,
  context: { params: Promise<Record<string, string | string[]>> },
) => Response | Promise<Response>;

export type PageHandler = (
  request: IncomingMessage & { query: object; cookies: object; body: unknown },
  response: ServerResponse,
) => unknown;

/** What a file exports: `app/api/plants/route.ts`, or `pages/api/plants.ts`. */
export interface NextFiles {
  readonly route?: { readonly POST: RouteHandler };
  readonly page?: { readonly default: PageHandler; readonly config?: { api: { bodyParser: boolean } } };
}

export function serveNext({ route, page }: NextFiles, path = '/api/plants'): RequestListener {
  return async (request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    // Not `url.pathname`, because the URL parser removes dot segments.
    if (request.url!.split('?', 1)[0] !== path) return void response.writeHead(404).end();
    if (page) return void (await callPage(page, request, response, url));
    if (request.method !== 'POST') return void response.writeHead(405).end();
    await callRoute(route!.POST, request, response, url);
  };
}

async function callRoute(
  handler: RouteHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  url: URL,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => outgoing.writableFinished || gone.abort());
  const request = new Request(url, {
    method: incoming.method!,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    body: Readable.toWeb(incoming) as ReadableStream,
    duplex: 'half',
    signal: gone.signal,
  } as RequestInit);
  const response = await handler(request, { params: Promise.resolve({}) });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const chunk of response.body ?? []) outgoing.write(chunk);
  outgoing.end();
}

async function callPage(
  { default: handler, config }: NonNullable<NextFiles['page']>,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const parses = config?.api.bodyParser ?? true;
  const body = parses ? await parsed(request) : undefined;
  if (body instanceof SyntaxError) return void response.writeHead(400).end('Invalid body');
  // Next adds these as properties of the request, and runs the handler with it.
  Object.assign(request, {
    query: Object.fromEntries(url.searchParams),
    cookies: {},
    ...(parses && { body }),
  });
  await handler(request as Parameters<PageHandler>[0], response);
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
