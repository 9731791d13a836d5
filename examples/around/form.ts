// A form in a browser, without a framework, for users with a session cookie.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { html } from 'hono/html';
import { createPlantStore } from 'plant-store';
import { createPlantClient } from 'plant-store/client';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { createFromForm, type FormResult } from './form-plant.js';

const sessions = new Map([['session-of-rosa', { user: 'rosa' }]]);
const plants = toFetch(createPlantStore(memoryStorage(), (session) => sessions.get(session)));

/** In this process, without a network: the contract requires a bearer token, so the session is one here. */
const clientOf = (token: string) =>
  createPlantClient('http://localhost', { token, fetch: (url, init) => plants(new Request(url, init)) });

const page = ({ message, errors, values }: FormResult) => {
  const field = (name: 'id' | 'name' | 'tag', label: string, required: string) => html`<label>${label}
<input name="${name}" value="${values[name] ?? ''}" aria-describedby="${name}-error" ${required}></label>
<span id="${name}-error">${errors[name] ?? ''}</span>`;
  return html`<form method="post">
${field('id', 'Id', 'required')}
${field('name', 'Name', 'required')}
${field('tag', 'Tag', '')}
<button>Create plant</button>
</form>
<p role="status">${message}</p>`;
};

const app = new Hono();
app.use(csrf()); // a cookie is sent by forms of other sites, too; Next checks the origin of an action by itself
app.get('/plants/new', (c) => c.html(page({ message: '', errors: {}, values: {} })));
app.post('/plants/new', async (c) => {
  const session = getCookie(c, 'session');
  return c.html(page(await createFromForm(session ? clientOf(session) : undefined, await c.req.formData())));
});

export const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, console.log);
