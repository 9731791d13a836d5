// app/plants/form.tsx: the form of the Server Action in next-action.ts. It works without JavaScript in the browser, too; its messages
// need `withoutScript` of examples/stacks/next-turso.md there, if next.config has cacheComponents.
'use client';

import { useActionState } from 'react';
import type { FormResult } from '../around/form-plant';
import { createPlant } from './next-action';

export function PlantForm() {
  const empty: FormResult = { message: '', errors: {}, values: {} };
  const [{ message, errors, values }, action, isPending] = useActionState(createPlant, empty);
  const field = (name: 'id' | 'name' | 'tag', label: string, isRequired = true) => (
    <label>
      {label}
      <input
        name={name}
        // React resets a form after its action, to the values that the action returns.
        defaultValue={values[name] ?? ''}
        required={isRequired}
        aria-describedby={`${name}-error`}
      />
      <span id={`${name}-error`}>{errors[name]}</span>
    </label>
  );
  return (
    <form action={action}>
      {field('id', 'Id')}
      {field('name', 'Name')}
      {field('tag', 'Tag', false)}
      <button type="submit" disabled={isPending}>
        Create plant
      </button>
      <p role="status">{message}</p>
    </form>
  );
}
