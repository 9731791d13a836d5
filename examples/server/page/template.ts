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
  /** The server's address, for the curl. */
  readonly origin: string;
  readonly freeId: string;
}

export function drawPage(content: PageContent): string {
  const { document, style, script } = content;
  const { title, version, description, license } = document.info;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<style>${new Html(style)}</style>
</head>
<body>
<header>
<img src="/favicon.ico" alt="" width="24" height="24">
<h1>${title}</h1>
<p class="soft">${description}</p>
<nav><a href="#operation">Reference</a> <a href="#errors">Errors</a> <a href="/openapi.json">openapi.json</a></nav>
</header>
<main>
<div class="try">${left(content)}${right(content)}</div>
${reference(document)}
</main>
<footer class="soft">${title} ${version} · ${license.name} · for other renderers: <a href="/openapi.json">openapi.json</a></footer>
<script type="module">${new Html(script)}</script>
</body>
</html>
`.text;
}

/** What is typed, and what is answered. */
function left(content: PageContent): Html {
  return html`<div>
<section class="card scripted">
<h2>Create a plant</h2>
<form id="create" novalidate autocomplete="off" spellcheck="false" autocapitalize="none">
${fields(content)}
<button class="main">Create plant</button>
</form>
</section>
<section class="card scripted">
<h2>Answer</h2>
<div id="answer" role="status" aria-live="polite" aria-atomic="true"><p class="soft">What the server answers appears here.</p></div>
</section>
<p class="card unscripted">The form needs JavaScript. The <code>curl</code> works without, and so does the reference.</p>
</div>
`;
}

/** The same as code, and what was created. */
function right(content: PageContent): Html {
  return html`<div>
<section class="card">
<h2>The same with curl</h2>
<pre id="curl">${curl(content)}</pre>
<button class="copy scripted" data-copy="curl" aria-label="Copy curl">Copy</button>
</section>
<section class="card scripted">
<h2>The same with fetch</h2>
<pre id="fetch"></pre>
<button class="copy" data-copy="fetch" aria-label="Copy fetch">Copy</button>
</section>
<section class="card scripted">
<h2>Created in this visit</h2>
<ol id="history"></ol>
</section>
<p id="said" class="unseen" role="status"></p>
</div>`;
}

/** The document's first example, with an id that is free. */
function exampleOf({ document, freeId }: PageContent): Record<string, string> {
  const { examples } = document.paths['/plants'].post.requestBody.content['application/json'];
  return { ...examples.rose.value, id: freeId };
}

function fields(content: PageContent): Html {
  const { document, token } = content;
  const { schema } = document.paths['/plants'].post.requestBody.content['application/json'];
  const members = membersOf(document, schema);
  const bearer =
    token === undefined ? html`type="password" placeholder="yours, as in TOKEN"` : html`value="${token}"`;
  return html`${Object.entries(exampleOf(content)).map(([name, value]) => field(members[name]!, value))}
<div class="wide"><label for="token">token <small>bearer</small></label>
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
<div><input id="${name}" value="${value}" ${kind}${required ? ' required' : ''}>${next}</div></div>
`;
}

/** As the script draws it too, from then on with what is typed. */
function curl(content: PageContent): string {
  const { id, ...rest } = exampleOf(content);
  const { origin, token } = content;
  const authorization = token ? `'Authorization: Bearer ${token}'` : '"Authorization: Bearer $TOKEN"';
  return `curl -i ${origin}/plants \\
  -H ${authorization} \\
  -H 'Content-Type: application/json' \\
  -d '{"id":${id},${JSON.stringify(rest).slice(1)}'`;
}
