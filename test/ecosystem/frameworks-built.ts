// Minimal apps of frameworks that build: as their generators write them, without pages.
import { ecosystemFolder } from '../support/installed.js';
import type { Framework } from './built-apps.js';

const root = JSON.stringify(ecosystemFolder());
const vite = 'vite/bin/vite.js';

/** With the server that Next itself writes, which changes into its own folder. */
export const next: Framework = {
  files: {
    'next.config.js': `module.exports = { output: 'standalone', outputFileTracingRoot: ${root}, turbopack: { root: ${root} } };`,
    'app/layout.tsx':
      'export default function Layout({ children }: { children: React.ReactNode }) { return <html lang="en"><body>{children}</body></html>; }\n',
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ target: 'ES2020', lib: ['dom', 'dom.iterable', 'esnext'], strict: true, noEmit: true },
        ...{ module: 'esnext', moduleResolution: 'bundler', isolatedModules: true, jsx: 'react-jsx' },
        ...{ skipLibCheck: true, esModuleInterop: true, resolveJsonModule: true, allowJs: true },
        ...{ incremental: true, plugins: [{ name: 'next' }] },
      },
      include: ['next-env.d.ts', '**/*.ts', '**/*.tsx', '.next/types/**/*.ts', '.next/dev/types/**/*.ts'],
      exclude: ['node_modules'],
    }),
  },
  build: ['next/dist/bin/next', 'build'],
  start: ['./.next/standalone/{name}/server.js'],
};

/** On adapter-node, whose server is told its own URL. */
export const sveltekit: Framework = {
  manifest: { type: 'module' },
  files: {
    'svelte.config.js':
      "import adapter from '@sveltejs/adapter-node';\nexport default { kit: { adapter: adapter() } };\n",
    'vite.config.ts':
      "import { sveltekit } from '@sveltejs/kit/vite';\nexport default { plugins: [sveltekit()] };\n",
    'tsconfig.json': '{ "extends": "./.svelte-kit/tsconfig.json" }',
    'src/app.html':
      '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>',
  },
  build: [vite, 'build'],
  start: ['./build/index.js'],
  environment: (url) => ({ ORIGIN: url, BODY_SIZE_LIMIT: '2M' }),
};

export const reactRouter: Framework = {
  manifest: { type: 'module' },
  packages: ['@react-router/node', 'isbot', 'react', 'react-dom', 'react-router'],
  files: {
    'vite.config.ts':
      "import { reactRouter } from '@react-router/dev/vite';\nexport default { plugins: [reactRouter()] };\n",
    'tsconfig.json': '{ "compilerOptions": { "jsx": "react-jsx" } }',
    'app/root.tsx': `import { Outlet, Scripts } from 'react-router';
export default function App() { return <html lang="en"><body><Outlet /><Scripts /></body></html>; }
`,
    'app/routes.ts': `import { route } from '@react-router/dev/routes';
export default [route('api/plants', './routes/api.plants.ts'), route('plants', './routes/plants.tsx'), route('api/plants/:id', './routes/api.plant.js')];
`,
  },
  build: ['@react-router/dev/bin.js', 'build'],
  start: ['@react-router/serve/bin.js', 'build/server/index.js'],
};

export const nitro: Framework = {
  manifest: { type: 'module' },
  files: {
    // Nitro compiles nothing below a node_modules, where this app lies.
    'nitro.config.ts':
      "export default { srcDir: 'server', compatibilityDate: '2026-01-01', esbuild: { options: { exclude: [] } } };\n",
  },
  build: ['nitropack/dist/cli/index.mjs', 'build'],
  start: ['./.output/server/index.mjs'],
};
