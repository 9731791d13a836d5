/** The smallest app of each framework that builds its apps: its files besides the route, and how it is built and started. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageRows } from '../../ecosystem/page-rows.js';
import { root } from '../../support/root.js';

export interface BuiltApp {
  readonly name: string;
  /** By their paths in the app. Its page at `/` says `the app`. */
  readonly files: Readonly<Record<string, string>>;
  /** Programs and their arguments, by their paths in `node_modules`. */
  readonly build: readonly string[];
  /** As in production; the first word is a path in the app, or in `node_modules` if it begins with `~`. */
  readonly start: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether its plants are in the SQLite file `DATABASE`. */
  readonly keepsPlants?: boolean;
}

const example = (name: string) => readFileSync(join(root, 'examples/hosts', `${name}.ts`), 'utf8');

/** The module of a line of the page. */
function routeOf(framework: string, imports = ''): string {
  const [, line] = [...pageRows('Frameworks with a build')].find(([name]) => name.startsWith(framework))!;
  return `${imports}
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const plants = toRoute(createPlantStore(memoryStorage(), acceptTokens('secret')));

${line};
`;
}

/** What `plant-store init` writes for SQLite in an app that is built. */
const storage = readFileSync(join(root, 'examples/init/sqlite-storage-later.ts'), 'utf8');

/** A program of the page with that storage instead of the one in memory. */
function onSqlite(program: string, path: string): string {
  const [memory = ''] = /^import .*'plant-store\/memory';$/m.exec(program)!;
  return program.replace(memory, `import { storage } from '${path}';`).replace('memoryStorage()', 'storage');
}

const next: BuiltApp = {
  name: 'Next',
  files: {
    // Otherwise Turbopack looks for the packages below the app.
    'next.config.js': `import { fileURLToPath } from 'node:url';
export default { turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) } };
`,
    'app/layout.tsx':
      'export default ({ children }: { children: React.ReactNode }) => <html lang="en"><body>{children}</body></html>;',
    'app/page.tsx': 'export default () => <h1>the app</h1>;',
    'app/api/plants/route.ts': example('next-route'),
  },
  build: ['next/dist/bin/next', 'build'],
  start: ['~next/dist/bin/next', 'start', '--hostname', '127.0.0.1'],
};

const sveltekit: BuiltApp = {
  name: 'SvelteKit',
  files: {
    'vite.config.js': `import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter(), paths: { origin: process.env.ORIGIN } })] };
`,
    'src/app.html': '<html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
    'src/routes/+page.svelte': '<h1>the app</h1>',
    'src/routes/api/plants/+server.ts': example('sveltekit'),
  },
  build: ['vite/bin/vite.js', 'build'],
  start: ['build/index.js'],
  env: { BODY_SIZE_LIMIT: 'Infinity' },
};

const reactRouter: BuiltApp = {
  name: 'React Router',
  files: {
    // Otherwise its build installs it.
    'package.json': '{ "private": true, "type": "module", "dependencies": { "isbot": "5" } }',
    'vite.config.js': `import { reactRouter } from '@react-router/dev/vite';
export default { plugins: [reactRouter()] };
`,
    'app/root.tsx': `import { Outlet } from 'react-router';
export default () => <html lang="en"><body><Outlet /></body></html>;
`,
    'app/routes.ts': `import { index, route } from '@react-router/dev/routes';
export default [index('home.tsx'), route('api/plants', 'routes/api.plants.ts')];
`,
    'app/home.tsx': 'export default () => <h1>the app</h1>;',
    'app/routes/api.plants.ts': example('react-router'),
  },
  build: ['@react-router/dev/bin.cjs', 'build'],
  start: ['~@react-router/serve/bin.cjs', 'build/server/index.js'],
};

const astro: BuiltApp = {
  name: 'Astro',
  files: {
    'astro.config.mjs': `import node from '@astrojs/node';
export default { output: 'server', adapter: node({ mode: 'standalone' }) };
`,
    'src/pages/index.astro': '<h1>the app</h1>',
    'src/pages/api/plants.ts': onSqlite(routeOf('Astro'), '../../storage'),
    'src/storage.ts': storage,
  },
  keepsPlants: true,
  build: ['astro/bin/astro.mjs', 'build'],
  start: ['dist/server/entry.mjs'],
};

const tanStackStart: BuiltApp = {
  name: 'TanStack Start',
  files: {
    'vite.config.js': `import { tanstackStart } from '@tanstack/react-start/plugin/vite';
import react from '@vitejs/plugin-react';
export default { plugins: [tanstackStart(), react()] };
`,
    'src/router.tsx': `import { createRouter } from '@tanstack/react-router';
import { routeTree } from './routeTree.gen';
export const getRouter = () => createRouter({ routeTree });
`,
    'src/routes/__root.tsx': `import { createRootRoute, Outlet, Scripts } from '@tanstack/react-router';
const Page = () => <html lang="en"><body><Outlet /><Scripts /></body></html>;
export const Route = createRootRoute({ component: Page });
`,
    'src/routes/index.tsx': `import { createFileRoute } from '@tanstack/react-router';
export const Route = createFileRoute('/')({ component: () => <h1>the app</h1> });
`,
    'src/routes/api/plants.ts': onSqlite(
      routeOf('TanStack', "import { createFileRoute } from '@tanstack/react-router';"),
      '../../storage',
    ),
    'src/storage.ts': storage,
  },
  keepsPlants: true,
  build: ['vite/bin/vite.js', 'build'],
  start: ['~srvx/bin/srvx.mjs', '--prod', '-s', '../client', 'dist/server/server.js'],
};

const nuxt: BuiltApp = {
  name: 'Nuxt',
  files: {
    'nuxt.config.ts': "export default defineNuxtConfig({ compatibilityDate: '2026-01-01' });",
    'app.vue': '<template><h1>the app</h1></template>',
    'server/api/plants.post.ts': onSqlite(example('nitro'), '../storage'),
    'server/storage.ts': storage,
  },
  keepsPlants: true,
  build: ['nuxt/bin/nuxt.mjs', 'build'],
  start: ['.output/server/index.mjs'],
};

export const builtApps: readonly BuiltApp[] = [next, sveltekit, reactRouter, astro, tanStackStart, nuxt];
