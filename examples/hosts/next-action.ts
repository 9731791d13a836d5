// app/plants/actions.ts: a Server Action for useActionState.
'use server';

import { cookies } from 'next/headers';
import { createPlantClient, PlantError } from 'plant-store/client';
import { newPlantFormSchema } from 'plant-store/schema';
// app/api/plants/route.ts; in your app, a module that both import has the handler.
import { POST } from './next-route.js';

export interface Result {
  readonly message: string;
}

/** `useActionState` passes the last result first, then the form. */
export async function createPlant(_last: Result, form: FormData): Promise<Result> {
  const token = (await cookies()).get('session')?.value;
  if (!token) return { message: 'Sign in first.' };
  const plant = await newPlantFormSchema['~standard'].validate(Object.fromEntries(form));
  // TypeScript narrows this under `strict` alone, which create-next-app sets.
  if (plant.issues) return { message: plant.issues.map(({ message }) => message).join(' ') };
  // In this process, without a network.
  const client = createPlantClient('http://localhost', {
    token,
    fetch: (url, init) => POST(new Request(url, init)),
  });
  try {
    await client.create(plant.value);
    return { message: `Plant ${plant.value.id} created.` };
  } catch (error) {
    if (error instanceof PlantError) return { message: error.message };
    throw error;
  }
}
