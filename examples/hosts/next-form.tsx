// app/plants/form.tsx: the form of the Server Action in next-action.ts. It works without JavaScript in the browser, too.
'use client';

import { useActionState } from 'react';
import { createPlant } from './next-action.js';

export function PlantForm() {
  const [result, action, isPending] = useActionState(createPlant, { message: '' });
  return (
    <form action={action}>
      <label>
        Id <input name="id" inputMode="numeric" required />
      </label>
      <label>
        Name <input name="name" required />
      </label>
      <label>
        Tag <input name="tag" />
      </label>
      <button type="submit" disabled={isPending}>
        Create plant
      </button>
      <p role="status">{result.message}</p>
    </form>
  );
}
