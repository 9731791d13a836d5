// The page as HTML. Even the form comes from the document: each member of its example is a field.
import type { OpenApiDocument } from 'plant-store/openapi';
import { Html, html } from './html.js';
import { type Member, membersOf, reference } from './reference.js';

export interface PageContent {
  readonly document: OpenApiDocument;
  readonly style: string;
  readonly script: string;
  /** Filled in if anybody may know it. */
  readonly token: string | undefined;
  /** Where the plants are stored, if anybody may know it. */
  readonly place: string | undefined;
  /** The server's address, for the curl. */
  readonly origin: string;
  readonly freeId: string;
}

const documentation = 'https://www.npmjs.com/package/plant-store';

export function drawPage(content: PageContent): string {
  const { document, style, script, place } = content;
  const { title, version, license } = document.info;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${document.info.description}">
<title>${title}</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<style>${new Html(style)}</style>
</head>
<body>
<header>
<img src="/favicon.ico" alt="" width="24" height="24">
<h1>${title}</h1>
<nav><a href="#operation">Reference</a> <a href="${documentation}">Documentation</a></nav>
<p class="soft">Try <code>POST /plants</code>.${place ? html` Storage: ${place}` : ''}</p>
</header>
<main>
<div class="try">${trial(content)}</div>
${reference(document)}
</main>
<footer class="soft">${title} ${version} · ${license.name} · <a href="/openapi.json">openapi.json</a></footer>
<script type="module">${new Html(script)}</script>
</body>
</html>
`.text;
}

/** The form and its result, the request as code, and the plants that were created. */
function trial(content: PageContent): Html {
  return html`<section class="card scripted">
<h2>Create a plant</h2>
<form id="create" novalidate autocomplete="off" spellcheck="false" autocapitalize="none">
${fields(content)}
<button type="submit" class="main">Create plant</button>
</form>
</section>
<section class="card scripted">
<h2>Result</h2>
<div id="answer" role="status" aria-live="polite" aria-atomic="true"><p class="soft">Send a request to see the response.</p></div>
</section>
<p class="card unscripted">The form needs JavaScript. Without it, use the curl command and the reference below.</p>
<section class="card code">
<h2>Request<span class="unscripted"> in curl</span></h2>
<div role="tablist" aria-label="Request as code" class="scripted">${Object.entries(languages).map(tab)}</div>
${Object.keys(languages).map((id) => panel(id, content))}
<button type="button" class="copy scripted">Copy</button>
</section>
<section class="card scripted">
<h2>Created in this tab</h2>
<ol id="history"></ol>
</section>
<p id="said" class="unseen" role="status"></p>`;
}

const languages = { curl: 'curl', powershell: 'PowerShell', fetch: 'JavaScript' };

function tab([id, name]: [string, string]): Html {
  const isFirst = id === 'curl';
  return html`<button type="button" role="tab" id="${id}-tab" aria-controls="${id}" aria-selected="${String(isFirst)}"${isFirst ? '' : html` tabindex="-1"`}>${name}</button>`;
}

/** The script draws the panels; the first is here for browsers without it. */
function panel(id: string, content: PageContent): Html {
  const isFirst = id === 'curl';
  return html`<pre id="${id}" role="tabpanel" aria-labelledby="${id}-tab" tabindex="0"${isFirst ? '' : html` hidden`}>${isFirst ? curl(content) : ''}</pre>
`;
}

/** Returns the document's first example, with a free id. */
function exampleOf({ document, freeId }: PageContent): Record<string, string> {
  const { examples } = document.paths['/plants'].post.requestBody.content['application/json'];
  return { ...examples.rose.value, id: freeId };
}

function fields(content: PageContent): Html {
  const { document, token } = content;
  const { schema } = document.paths['/plants'].post.requestBody.content['application/json'];
  const members = membersOf(document, schema);
  const bearer =
    token === undefined
      ? html`type="password" autocomplete="current-password" placeholder="value of TOKEN"`
      : html`type="text" value="${token}"`;
  return html`${Object.entries(exampleOf(content)).map(([name, value]) => field(members[name]!, value))}
<div class="wide"><label for="token">Bearer token</label>
<div><input id="token" ${bearer}></div></div>`;
}

function field({ name, type, required }: Member, value: string): Html {
  const next =
    name === 'id'
      ? html`<button type="button" id="next" aria-label="Fill in the next free id">Next free</button>`
      : '';
  const isInteger = type.startsWith('integer');
  const kind = isInteger ? html`inputmode="numeric" data-type="integer"` : html`data-type="string"`;
  return html`<div${isInteger ? html` class="wide"` : ''}><label for="${name}">${name} <small>${isInteger ? type : ''}${required ? '' : 'optional'}</small></label>
<div><input type="text" id="${name}" value="${value}" ${kind}${required ? ' required' : ''}>${next}</div></div>
`;
}

/** As the script draws it, too, with the current input. */
function curl(content: PageContent): string {
  const { id, ...rest } = exampleOf(content);
  const { origin, token } = content;
  const authorization = token ? `'Authorization: Bearer ${token}'` : '"Authorization: Bearer $TOKEN"';
  return `curl -i ${origin}/plants \\
  -H ${authorization} \\
  -H 'Content-Type: application/json' \\
  -d '{"id":${id},${JSON.stringify(rest).slice(1)}'`;
}
