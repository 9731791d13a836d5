// `npm run release` refuses to publish what nobody could find the source of.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';

it('a release without a repository is refused with the command that sets it', () => {
  const folder = newFolder();
  for (const file of ['package.json', '.github/release.js', '.github/CHANGELOG.md'])
    cpSync(join(root, file), join(folder, file));
  const check = () => spawnSync(process.execPath, ['.github/release.js'], { cwd: folder, encoding: 'utf8' });
  execFileSync('npm', ['pkg', 'delete', 'repository'], { cwd: folder, shell: true });
  const { status, stderr } = check();
  expect(status).toBe(1);
  const [command = ''] = /npm pkg set .*/.exec(stderr)!;
  execFileSync(command, { cwd: folder, shell: true });
  expect(check()).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).repository.type).toBe('git');
  execFileSync('npm', ['pkg', 'set', 'version=99.0.0'], { cwd: folder, shell: true });
  expect(check()).toMatchObject({ status: 1, stderr: expect.stringContaining('## 99.0.0') });
});
