// The API reference that `npm start` shows on `/`: our own document, in Swagger UI, from this machine's disk alone.
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { pipeline } from 'node:stream';
import { openapi } from 'plant-store/openapi';

// Swagger UI as Fastify carries it: swagger-ui-dist would bring a package that reports its installation.
const swaggerUi = (file: string): string =>
  createRequire(import.meta.url).resolve(`@fastify/swagger-ui/static/${file}`);

interface Page {
  readonly type: string;
  /** The text itself, or where it is on disk. */
  readonly content: string | { readonly file: string };
}

/**
 * Answers `GET /`, `/openapi.json` and what these need, and hands every other request on.
 *
 * @param token filled in for whoever opens the page: give none that has to stay secret
 */
export function referencePage({
  token,
}: {
  token?: string | undefined;
}): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  const pages: Record<string, Page> = {
    '/': { type: 'text/html', content: html },
    '/openapi.json': { type: 'application/json', content: JSON.stringify(openapi()) },
    '/reference/start.js': { type: 'text/javascript', content: script(token) },
    '/reference/style.css': { type: 'text/css', content: style },
    '/reference/swagger-ui.js': {
      type: 'text/javascript',
      content: { file: swaggerUi('swagger-ui-bundle.js') },
    },
    '/reference/swagger-ui.css': { type: 'text/css', content: { file: swaggerUi('swagger-ui.css') } },
    '/favicon.ico': { type: 'image/svg+xml', content: icon },
  };
  return (request, response, next) => {
    const page = pages[request.url?.split('?', 1)[0] ?? ''];
    if (!page || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    response.writeHead(200, { ...headers, 'content-type': `${page.type}; charset=utf-8` });
    if (request.method === 'HEAD') response.end();
    else if (typeof page.content === 'string') response.end(page.content);
    else pipeline(createReadStream(page.content.file), response, () => {});
  };
}

const headers = {
  // Nothing from elsewhere, and no inline script; Swagger UI sets styles and draws its icons inline.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Plant Store · API reference</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="/reference/swagger-ui.css">
<link rel="stylesheet" href="/reference/style.css">
</head>
<body>
<main id="reference"></main>
<script src="/reference/swagger-ui.js"></script>
<script src="/reference/start.js"></script>
</body>
</html>
`;

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M8 15V8C8 4 4 3 1 3c0 4 2 7 7 6 0-5 3-7 7-7 0 5-2 8-7 8" fill="#2f855a"/></svg>';

function script(token: string | undefined): string {
  return `
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  docExpansion: 'full',
  defaultModelsExpandDepth: 2,
  defaultModelExpandDepth: 5,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Else it would ask a validator on the internet.
  validatorUrl: null,
  onComplete: () => {
    const token = ${JSON.stringify(token ?? null)};
    if (token) ui.preauthorizeApiKey('bearerAuth', token);
  },
});
`;
}

// Swagger UI's own look, readable on a phone and in the dark, without what one operation has no use for.
const style = `
body { margin: 0 }
.swagger-ui .info { margin: 2rem 0 1rem }
.swagger-ui .scheme-container { padding: 0 0 1rem; box-shadow: none; background: none }
.swagger-ui .opblock-section-header:has(.try-out), .swagger-ui .parameters-container,
.swagger-ui .responses-table .response-col_links, .swagger-ui .response-control-media-type, .swagger-ui .download-contents { display: none }
.swagger-ui .response-controls { padding-top: 0 }
.swagger-ui textarea.body-param__text { min-height: 8rem }
.swagger-ui .renderedMarkdown code { padding: 0 .25em; font-size: .95em }
.swagger-ui .btn { white-space: nowrap }
.dark-mode .swagger-ui :is(.header-col, .parameter__name, .examples__section-header, .examples-select__section-label),
.dark-mode .swagger-ui .renderedMarkdown p, .dark-mode .swagger-ui .renderedMarkdown table tbody tr td { color: #e4e6e6 }
.swagger-ui .microlight span[style*='rgb(211, 99, 99)'] { color: #f4a3a3 !important }
html:not(.dark-mode) .swagger-ui :is(.info a, .json-schema-2020-12-expand-deep-button, .btn.authorize span) { color: #1f6f54 }
html:not(.dark-mode) .swagger-ui :is(.opblock-summary-method, .info .title small, .json-schema-2020-12__constraint) { background: #1f6f54 }
html:not(.dark-mode) .swagger-ui .btn.execute { background: #2769b8; border-color: #2769b8 }
@media (max-width: 640px) {
  .swagger-ui .wrapper, .swagger-ui .responses-inner { padding: 0 .75rem }
  .swagger-ui .opblock-body .opblock-description-wrapper, .swagger-ui .opblock-section-request-body > div { padding: .75rem }
  .swagger-ui .responses-table, .swagger-ui .responses-table > :is(tbody, tbody > tr), .swagger-ui .responses-table > tbody > tr > td { display: block; width: auto; max-width: none }
  .swagger-ui .responses-table > thead { display: none }
  .swagger-ui .responses-table > tbody > tr > td { padding: .25rem 0 }
  .swagger-ui .responses-table > tbody > tr > .response-col_status { padding-top: 1rem; font-weight: bold }
  .swagger-ui .examples-select select { max-width: 100% }
  .swagger-ui .renderedMarkdown :is(table, tbody) { display: block }
  .swagger-ui .renderedMarkdown thead { display: none }
  .swagger-ui .renderedMarkdown tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75em; padding: .4em 0 }
  .swagger-ui .renderedMarkdown table tbody tr td { padding: 0; min-width: 0 }
  .swagger-ui .renderedMarkdown table tbody tr td:last-child { flex-basis: 100% }
  .swagger-ui .highlight-code .copy-to-clipboard { display: none }
}
`;
