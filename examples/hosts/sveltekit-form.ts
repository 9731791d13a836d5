// src/routes/plants/+page.server.ts: the action of the form in sveltekit-form.svelte.
import { type Actions, fail } from '@sveltejs/kit';
import { createPlantClient } from 'plant-store/client';
import { createFromForm } from '../around/form-plant';

export const actions: Actions = {
  default: async ({ request, cookies, fetch }) => {
    const token = cookies.get('session');
    // SvelteKit's own fetch calls the route /api/plants in this process.
    const client = token ? createPlantClient('/api', { token, fetch }) : undefined;
    const result = await createFromForm(client, await request.formData());
    // After a 200, the page empties its fields.
    return result.values.id === undefined ? result : fail(400, result);
  },
};
