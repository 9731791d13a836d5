// app/routes/plants.tsx: a form and its action. It works without JavaScript in the browser, too.

import { createPlantClient } from 'plant-store/client';
import { type ActionFunctionArgs, Form, useActionData } from 'react-router';
import { createFromForm } from '../around/form-plant';
// app/routes/api.plants.ts
import { action as plants } from './react-router';

export async function action({ request }: ActionFunctionArgs) {
  const token = /(?:^|; )session=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1];
  if (!token) return createFromForm(undefined, await request.formData());
  // In this process, without a network.
  const fetch = (url: string, init: RequestInit) => plants({ request: new Request(url, init) });
  return createFromForm(createPlantClient('http://localhost', { token, fetch }), await request.formData());
}

export default function Plants() {
  const { message = '', errors = {}, values = {} } = useActionData<typeof action>() ?? {};
  const field = (name: 'id' | 'name' | 'tag', label: string, isRequired = true) => (
    <label>
      {label}
      <input
        name={name}
        defaultValue={values[name] ?? ''}
        required={isRequired}
        aria-describedby={`${name}-error`}
      />
      <span id={`${name}-error`}>{errors[name]}</span>
    </label>
  );
  return (
    <Form method="post">
      {field('id', 'Id')}
      {field('name', 'Name')}
      {field('tag', 'Tag', false)}
      <button type="submit">Create plant</button>
      <p role="status">{message}</p>
    </Form>
  );
}
