// The reference: operation, schemas, responses. All of it comes from the document.
import { STATUS_CODES } from 'node:http';
import type { OpenApiDocument } from 'plant-store/openapi';
import { type Html, html, prose } from './html.js';

/** A member of a schema, wherever the schema has it from. */
export interface Member {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description?: string | undefined;
}

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Example {
  readonly value: { readonly error: number; readonly message: string };
  /** Whether a client can send the request again. */
  readonly description: string;
}

interface Answer {
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content: {
    readonly 'application/json': {
      readonly schema: Schema;
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, Example>>;
    };
  };
}

/** The members of a schema by their names, with those of every schema that it refers to. */
export function membersOf(document: OpenApiDocument, schema: Schema): Record<string, Member> {
  const members: Record<string, Member> = {};
  const parts = [...(schema.allOf ?? [])];
  if (schema.$ref) parts.push(schemasOf(document)[nameOf(schema.$ref)]!);
  for (const part of parts) Object.assign(members, membersOf(document, part));
  for (const [name, { type = '', format, description }] of Object.entries(schema.properties ?? {})) {
    const required = schema.required?.includes(name) ?? false;
    members[name] = { name, type: format ? `${type} · ${format}` : type, required, description };
  }
  return members;
}

export function reference(document: OpenApiDocument): Html {
  return html`<section>
<h2 id="operation">Reference</h2>
<div class="card">${operation(document)}</div>
</section>
<section>
<h2>Schemas</h2>
<div class="cards">${Object.entries(schemasOf(document)).map(([name, schema]) => card(document, name, schema))}</div>
</section>
<section>
<h2 id="errors">Responses</h2>
<div class="card">
${answersOf(document).map(([status, answer]) => answerTable(status, answer))}</div>
</section>`;
}

function operation(document: OpenApiDocument): Html {
  const { description, requestBody } = document.paths['/plants'].post;
  const [mediaType = ''] = Object.keys(requestBody.content);
  return html`<h3>POST /plants</h3>
<p>${prose(description)}</p>
<p>${prose(requestBody.description)}</p>
<p>Required headers: <code>Authorization: Bearer &lt;token&gt;</code> and <code>Content-Type: ${mediaType}</code>.</p>`;
}

function card(document: OpenApiDocument, name: string, schema: Schema): Html {
  return html`<article class="card" id="${name}">
<h3>${name}</h3>
${schema.description ? html`<p>${prose(schema.description)}</p>\n` : ''}<dl>${Object.values(membersOf(document, schema)).map(describeMember)}</dl>
</article>
`;
}

function describeMember({ name, type, required, description }: Member): Html {
  return html`<dt><code>${name}</code> <small>${type}${required ? '' : ' · optional'}</small></dt>
<dd>${prose(description)}</dd>
`;
}

/** The table of a status: its reason phrase, then each error code and each header. */
function answerTable(status: string, { headers = {}, content }: Answer): Html {
  const { schema, example, examples = {} } = content['application/json'];
  const rows = Object.entries(examples).map(
    ([
      name,
      {
        description,
        value: { error, message },
      },
    ]) =>
      row(
        html`<tr id="e${error}">`,
        html`<a href="#e${error}">${error}</a> <code>${name}</code>`,
        html`${prose(message)} <small>${description}</small>`,
      ),
  );
  for (const [name, { description }] of Object.entries(headers)) {
    rows.push(row(html`<tr>`, html`<code>${name}</code>`, prose(description)));
  }
  return html`<table>
<caption><b class="s${status.slice(0, 1)}">${status}</b> ${STATUS_CODES[status]!} <small>${nameOf(schema.$ref ?? '')}</small></caption>
<tbody>
${example ? html`<tr><td colspan="2"><code>${JSON.stringify(example)}</code></td></tr>\n` : ''}${rows}</tbody>
</table>
`;
}

function row(start: Html, head: Html, text: Html): Html {
  return html`${start}<th scope="row">${head}</th><td>${text}</td></tr>
`;
}

/** Every response by its status: those of the operation, and those of a standalone server. */
function answersOf(document: OpenApiDocument): [status: string, answer: Answer][] {
  const { responses } = document.paths['/plants'].post;
  // An object has its numbers in rising order.
  return Object.entries<Answer>({ ...responses, ...document['x-responses'] });
}

function schemasOf(document: OpenApiDocument): Record<string, Schema> {
  return document.components.schemas;
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}
