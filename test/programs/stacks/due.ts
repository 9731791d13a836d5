import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linksOf } from '../../support/pages.js';
import { root } from '../../support/root.js';

/** The names of the pages of `examples/stacks/`. */
export const stacks: readonly string[] = readdirSync(join(root, 'examples/stacks'))
  .map((file) => file.replace(/\.md$/, ''))
  .sort();

const day = 24 * 60 * 60 * 1000;

/** A page, and those that it leads to: it may take files of them. */
function withSources(name: string): string[] {
  const links = linksOf(readFileSync(join(root, `examples/stacks/${name}.md`), 'utf8'));
  return [name, ...links.map(([file]) => file.replace(/\.md$/, '')).filter((file) => stacks.includes(file))];
}

/** The pages that a commit of the last two days has changed, or their tests; and one of the others, another one each day. */
export function dueStacks(): string[] {
  const log = ['log', '--since=2.days', '--name-only', '--format='];
  const changed = execFileSync('git', log, { cwd: root, encoding: 'utf8' });
  const touched = (name: string) =>
    withSources(name).some((one) =>
      new RegExp(`^(examples/stacks/${one}\\.md|test/programs/stacks/${one}\\.stack\\.ts)$`, 'm').test(
        changed,
      ),
    );
  const others = stacks.filter((name) => !touched(name));
  const byTurns = others[Math.floor(Date.now() / day) % others.length];
  return stacks.filter((name) => touched(name) || name === byTurns);
}
