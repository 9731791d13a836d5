// Creates the plant of a form. The result is what a page shows: a sentence, one for each field, and what the fields keep.
import { type PlantClient, PlantError } from 'plant-store/client';
import { issuesByField, newPlantFormSchema } from 'plant-store/schema';

export type Fields = { readonly [Name in 'id' | 'name' | 'tag']?: string };

export interface FormResult {
  readonly message: string;
  readonly errors: Fields;
  readonly values: Fields;
}

/** @param client sends the session as the token; without one, the user has not signed in */
export async function createFromForm(client: PlantClient | undefined, form: FormData): Promise<FormResult> {
  const text = (name: string) => String(form.get(name) ?? '');
  const values = { id: text('id'), name: text('name'), tag: text('tag') };
  if (!client) return { message: 'Sign in first.', errors: {}, values };
  const plant = await newPlantFormSchema['~standard'].validate(values);
  // TypeScript narrows this under `strict` alone.
  if (plant.issues) return { message: 'Correct the fields.', errors: issuesByField(plant.issues), values };
  try {
    await client.create(plant.value);
    return { message: `Plant ${plant.value.id} created.`, errors: {}, values: {} };
  } catch (error) {
    if (!(error instanceof PlantError)) throw error;
    const { message, problem } = error;
    if (problem === 'id_taken') return { message: 'Correct the fields.', errors: { id: message }, values };
    return { message, errors: {}, values };
  }
}
