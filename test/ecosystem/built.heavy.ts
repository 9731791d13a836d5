// What `plant-store init` writes for a framework, and what its page shows, on SQLite: built by the framework, started in production,
// restarted and built again. No plant that returned 200 is lost. Next, whose build takes the longest, has a file of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromiumPath, withoutChromium } from '../support/chromium.js';
import type { Any } from '../support/installed.js';
import { root } from '../support/root.js';
import { BuiltApp, expectNothingLost } from './built-apps.js';
import { expectUsableForm, launchChromium } from './forms.js';
import { nitro, reactRouter, sveltekit } from './frameworks-built.js';

const apps: BuiltApp[] = [];
let browser: Any;
beforeAll(async () => {
  if (chromiumPath) browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await Promise.all(apps.map((app) => app.remove()));
});

/** What a page shows, on SQLite as `init` has it. */
function onSqlite(app: BuiltApp, example: string, path: string): void {
  const text = readFileSync(join(root, 'examples', example), 'utf8');
  const [memory = ''] = /^import .*'plant-store\/memory';$/m.exec(text)!;
  app.copy(example, path, [memory, "import { storage } from '../storage';"], ['memoryStorage()', 'storage']);
  app.copy('init/sqlite-storage-later.ts', join(path, '../../storage.ts'));
}

/** A guard, which gets the parameter of its route. */
const guarded = `import { acceptTokens, guard, json } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
const plant = toRoute(guard(acceptTokens('secret'), ({ params }) => json(200, { id: params?.id })));
export const METHOD = ({ request, params }) => plant(request, { params });
`;

const plantForm = '../around/form-plant';
const written = {
  sveltekit: {
    framework: sveltekit,
    write(app: BuiltApp) {
      onSqlite(app, 'hosts/sveltekit.ts', 'src/routes/api/plants/+server.ts');
      app.write({ 'src/routes/api/plants/[id]/+server.js': guarded.replace('METHOD', 'GET') });
      app.copy('around/form-plant.ts', 'src/lib/form-plant.ts');
      app.copy('hosts/sveltekit-form.svelte', 'src/routes/plants/+page.svelte');
      app.copy('hosts/sveltekit-form.ts', 'src/routes/plants/+page.server.ts', [
        plantForm,
        '$lib/form-plant',
      ]);
    },
    form: '/plants',
  },
  'React Router': {
    framework: reactRouter,
    write(app: BuiltApp) {
      onSqlite(app, 'hosts/react-router.ts', 'app/routes/api.plants.ts');
      app.write({ 'app/routes/api.plant.js': guarded.replace('METHOD', 'loader') });
      app.copy('around/form-plant.ts', 'app/form-plant.ts');
      const route: [string, string] = ["'./react-router'", "'./api.plants'"];
      app.copy('hosts/react-router-form.tsx', 'app/routes/plants.tsx', [plantForm, '../form-plant'], route);
    },
    form: '/plants',
  },
  Nitro: {
    framework: nitro,
    write: (app: BuiltApp) => onSqlite(app, 'hosts/nitro.ts', 'server/api/plants.post.ts'),
    form: undefined,
  },
};

it.each(Object.entries(written))(
  '%s loses no plant',
  { timeout: 480_000 },
  async (_, { framework, write, form }) => {
    const app = new BuiltApp(framework);
    apps.push(app);
    await app.create();
    write(app);
    await expectNothingLost(app, async (url) => {
      if (!form) return;
      const headers = { authorization: 'Bearer secret' };
      expect(await (await fetch(`${url}/api/plants/9007199254740993`, { headers })).json()).toEqual({
        id: '9007199254740993',
      });
      expect((await fetch(`${url}/api/plants/1`)).status).toBe(401);
      if (browser) await expectUsableForm(browser, url + form, 'secret');
    });
  },
);

it('has a browser for the forms', () => {
  if (process.env.CI) expect(withoutChromium).toBe(undefined);
});
