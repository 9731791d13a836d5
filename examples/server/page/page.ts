// The page of the demo server: a form and the reference, drawn from the OpenAPI document and sent as one response.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { openapi } from 'plant-store/openapi';
import { randomId } from '../free-id.js';
import { drawPage } from './template.js';

export interface PageOptions {
  /** The page shows it to everyone who opens it, so give no secret. */
  readonly token: string | undefined;
  /** Where the plants are stored; shown to everyone who opens the page, too. */
  readonly place: string | undefined;
  /** Returns an id that no plant has at this moment, if it finds one. */
  readonly freeId: () => Promise<bigint | undefined>;
}

type Listener = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Responds to `GET /`, `/openapi.json` and `/favicon.ico`, and passes every other request to `next`. */
export function evaluationPage({ token, place, freeId }: PageOptions): Listener {
  const document = openapi();
  // Of a style sheet, no space around punctuation means anything either.
  const style = readSlim('style.css')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?|(:) /g, '$1$2');
  const script = readSlim('script.js');
  const pages: Record<string, (request: IncomingMessage) => Promise<Page> | Page> = {
    '/': async ({ headers }) => {
      const id = await offer(freeId);
      const content = { document, style, script, token, place, origin: originOf(headers.host), freeId: id };
      // The header is for the script, which asks again with HEAD when the id may have been taken meanwhile.
      return { type: 'text/html', body: drawPage(content), headers: { 'free-id': id } };
    },
    '/openapi.json': () => ({ type: 'application/json', body: JSON.stringify(document) }),
    '/favicon.ico': () => ({ type: 'image/svg+xml', body: icon }),
  };
  const policy = contentSecurityPolicy(style, script);
  return async (request, response, next) => {
    const page = pages[request.url?.split('?', 1)[0] ?? ''];
    if (!page || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const { type, body, headers } = await page(request);
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    response.writeHead(200, {
      ...fixedHeaders,
      ...policy,
      ...headers,
      ...(isZipped && { 'content-encoding': 'gzip' }),
      'content-type': `${type}; charset=utf-8`,
    });
    if (request.method === 'HEAD') response.end();
    else response.end(isZipped ? gzipSync(body) : body);
  };
}

/** Returns an id to offer: a random one if the storage finds none, fails or takes over a second. */
async function offer(freeId: PageOptions['freeId']): Promise<string> {
  const late = setTimeout(1_000, undefined, { ref: false });
  const found = await Promise.race([freeId(), late]).catch(() => undefined);
  return String(found ?? randomId());
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M12 22v-9m0 0C12 7 7 4 2 4c0 6 3 10 10 9Zm0 0c0-5 4-8 10-8 0 6-3 9-10 8Z" fill="none" stroke="#2f9463" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>';

interface Page {
  readonly type: string;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

const fixedHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
  // Going back must not show an id that was free before.
  'cache-control': 'no-store',
};

/** Nothing from elsewhere, and of what is inline only this style and this script, by their hashes. */
function contentSecurityPolicy(style: string, script: string): Record<string, string> {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return {
    'content-security-policy': `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

/** The address that the browser used, for the curl. The Host header may hold anything. */
function originOf(host: string | undefined): string {
  return host && /^[\w.:[\]-]+$/.test(host) ? `http://${host}` : 'http://127.0.0.1:3000';
}

/** A file without what only its readers need: comments, indentation and empty lines. */
function readSlim(name: string): string {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text.replace(/ ?\/\*\*.*?\*\/|^ *\/\/.*|^ +/gm, '').replace(/\n+/g, '\n');
}
