/** The types of the built package under older compilers, which know less: without `skipLibCheck`. */
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { root } from '../../support/root.js';

// On TypeScript 5.0 the types of valibot itself, which `plant-store/schema` shows, do not compile.
const entries = Object.keys(packageJson.exports).filter((name) => !/\.json$|schema/.test(name));

test.each(['5.0', '5.4', '5.6', '5.9', '7.0'])('every entry compiles on TypeScript %s', async (version) => {
  const folder = join(inject('runtimes'), `types-${version}`);
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await symlink(root, join(folder, 'node_modules/plant-store'));
  const lines = entries.map((name, i) => `export * as m${i} from 'plant-store${name.slice(1)}';`);
  await writeFile(join(folder, 'use.ts'), lines.join('\n'));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    noEmit: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const tsc = join(inject('runtimes'), `node_modules/typescript-${version}/bin/tsc`);
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error) => error);
  expect(stdout).toBe('');
});
