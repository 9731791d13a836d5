// A form in a browser, for users with a session cookie. As a Server Action of Next, `createPlant` starts with
// 'use server' and takes the form alone: its cookie is `(await cookies()).get('session')?.value`.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { html } from 'hono/html';
import { createPlantStore } from 'plant-store';
import { createPlantClient, PlantError } from 'plant-store/client';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';
import { newPlantFormSchema } from 'plant-store/schema';

const sessions = new Map([['session-of-rosa', { user: 'rosa' }]]);
const plants = toFetch(createPlantStore(memoryStorage(), (session) => sessions.get(session)));

/** Creates the plant of a form. Returns a sentence for the page. */
export async function createPlant(session: string | undefined, form: FormData): Promise<string> {
  if (!session) return 'Sign in first.';
  const plant = await newPlantFormSchema['~standard'].validate(Object.fromEntries(form));
  if (plant.issues) return plant.issues.map(({ message }) => message).join(' ');
  // In this process, without a network: the contract requires a bearer token, so the session is one here.
  const client = createPlantClient('http://localhost', {
    token: session,
    fetch: (url, init) => plants(new Request(url, init)),
  });
  try {
    await client.create(plant.value);
    return `Plant ${plant.value.id} created.`;
  } catch (error) {
    if (error instanceof PlantError) return error.message;
    throw error;
  }
}

const app = new Hono();
app.use(csrf()); // a cookie is sent by forms of other sites, too; Next checks the origin of an action by itself
app.all('/plants/new', async (c) => {
  const isSent = c.req.method === 'POST';
  const sentence = isSent ? await createPlant(getCookie(c, 'session'), await c.req.formData()) : '';
  return c.html(html`<form method="post">
<label>Id <input name="id" inputmode="numeric" required></label>
<label>Name <input name="name" required></label>
<label>Tag <input name="tag"></label>
<button>Create plant</button>
</form>
<p role="status">${sentence}</p>`);
});

export const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, console.log);
