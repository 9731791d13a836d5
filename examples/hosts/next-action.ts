// app/plants/actions.ts: a Server Action for useActionState.
'use server';

import { revalidatePath } from 'next/cache';
import { cookies } from 'next/headers';
import { createPlantClient } from 'plant-store/client';
import { createFromForm, type FormResult } from '../around/form-plant';
// app/api/plants/route.ts; in your app, a module that both import has the handler.
import { POST } from './next-route';

/** `useActionState` passes the last result first, then the form. */
export async function createPlant(_last: FormResult, form: FormData): Promise<FormResult> {
  const token = (await cookies()).get('session')?.value;
  if (!token) return createFromForm(undefined, form);
  // In this process, without a network.
  const fetch = (url: string, init: RequestInit) => POST(new Request(url, init));
  const result = await createFromForm(createPlantClient('http://localhost', { token, fetch }), form);
  revalidatePath('/plants'); // a list beside the form
  return result;
}
