import { join } from 'node:path';
import type { Plugin } from 'vite';
import { mergeConfig } from 'vitest/config';
import built from './built.config.js';
import oldest from './oldest/package.json' with { type: 'json' };
import { testsOfOldest } from './rooms.js';

/** Where the packages of `oldest/package.json` are installed. Vite looks for packages from the folder of an importer that exists. */
const importer = join(process.env.OLDEST!, 'package.json');

const isOlder = (source: string) =>
  Object.keys(oldest.dependencies).some((name) => source === name || source.startsWith(`${name}/`));

/** The older packages take the place of the repository's. */
const olderPackages: Plugin = {
  name: 'older-packages',
  enforce: 'pre',
  async resolveId(source) {
    if (!isOlder(source)) return undefined;
    const resolved = await this.resolve(source, importer, { skipSelf: true });
    // The newer one must not take its place unnoticed.
    if (!resolved?.id.includes('/oldest/node_modules/'))
      throw new Error(`${source} is not installed: ${resolved?.id}`);
    return resolved;
  },
};

/** The tests of `hosts/` and `storages/` with the built package, on the oldest frameworks and drivers. */
const config = mergeConfig(built, { plugins: [olderPackages] });
config.test.include = [...testsOfOldest];
// It has a template of its own (`test/support/pglite.ts`).
config.test.env = { ...config.test.env, PGLITE: oldest.dependencies['@electric-sql/pglite'] };
export default config;
