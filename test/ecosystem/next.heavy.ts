// Next, with the route of `init` on SQLite, built as a standalone server: what is kept, and the Server Action with its form.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromiumPath } from '../support/chromium.js';
import type { Any } from '../support/installed.js';
import { BuiltApp, expectNothingLost } from './built-apps.js';
import { expectUsableForm, launchChromium } from './forms.js';
import { next } from './frameworks-built.js';

let app: BuiltApp;
let browser: Any;

beforeAll(async () => {
  if (chromiumPath) browser = await launchChromium();
  app = new BuiltApp(next);
  await app.create();
  app.init({ host: 'next', database: 'sqlite' });
  const plantForm = '../around/form-plant';
  app.copy('around/form-plant.ts', 'app/plants/form-plant.ts');
  const route: [string, string] = ['./next-route', '../api/plants/route'];
  app.copy('hosts/next-action.ts', 'app/plants/actions.ts', [plantForm, './form-plant'], route);
  app.copy(
    'hosts/next-form.tsx',
    'app/plants/form.tsx',
    [plantForm, './form-plant'],
    ['./next-action', './actions'],
  );
  app.write({
    'app/plants/page.tsx':
      "import { PlantForm } from './form';\nexport default function Page() { return <PlantForm />; }\n",
  });
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await app?.remove();
});

/** Sends the form as a browser without JavaScript does, and returns the page. */
async function submit(url: string, id: string, cookie?: string): Promise<string> {
  const page = await (await fetch(`${url}/plants`)).text();
  const form = new FormData();
  for (const [, name, value = ''] of page.matchAll(
    /<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?/g,
  ))
    form.append(name!, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
  for (const [name, value] of Object.entries({ id, name: 'Rosa canina', tag: '' })) form.append(name, value);
  const headers = { origin: url, ...(cookie && { cookie }) };
  const response = await fetch(`${url}/plants`, { method: 'POST', headers, body: form });
  return response.text();
}

it('loses no plant, and has a sentence for what is wrong in its form', { timeout: 400_000 }, async () => {
  await expectNothingLost(app, async (url) => {
    expect(await submit(url, '1')).toContain('<p role="status">Sign in first.</p>');
    expect(await submit(url, '9007199254740998', 'session=wrong')).toMatch(/<p role="status">[^<]*token/);
    expect(await submit(url, '9007199254740999', 'session=secret')).toContain(
      '<p role="status">Plant 9007199254740999 created.</p>',
    );
    const page = await submit(url, 'x', 'session=secret');
    expect(page).toMatch(/<span id="id-error">Enter an integer from/);
    expect(page).toMatch(/name="id"[^>]*value="x"|value="x"[^>]*name="id"/);
    if (browser) await expectUsableForm(browser, `${url}/plants`, 'secret');
  });
});
