import { join } from 'node:path';
import type { Plugin } from 'vite';
import { mergeConfig } from 'vitest/config';
import built from './built.config.js';
import older from './older/package.json' with { type: 'json' };
import oldest from './oldest/package.json' with { type: 'json' };

const sets = { older, oldest };

/**
 * The tests of these files with the built package, on the frameworks and drivers of `older/` or `oldest/`, which take the place of
 * the repository's.
 */
export function configOn(set: keyof typeof sets, include: readonly string[]) {
  const dependencies: Readonly<Record<string, string>> = sets[set].dependencies;
  // Vite looks for packages from the folder of an importer that exists.
  const importer = join(process.env.OLD_PACKAGES!, set, 'package.json');
  const isOlder = (source: string) =>
    Object.keys(dependencies).some((name) => source === name || source.startsWith(`${name}/`));
  const olderPackages: Plugin = {
    name: 'older-packages',
    enforce: 'pre',
    async resolveId(source) {
      if (!isOlder(source)) return undefined;
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      // The newer one must not take its place unnoticed.
      if (!resolved?.id.includes(`/${set}/node_modules/`))
        throw new Error(`${source} is not installed: ${resolved?.id}`);
      return resolved;
    },
  };
  const config = mergeConfig(built, { plugins: [olderPackages] });
  config.test.include = [...include];
  // It has a template of its own (`test/support/pglite.ts`).
  config.test.env = { ...config.test.env, PGLITE: dependencies['@electric-sql/pglite'] };
  return config;
}
