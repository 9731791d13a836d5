import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOfStack } from '../../../examples/server/stacks.js';
import { root } from '../../support/root.js';

/** A page of `examples/stacks/`. */
export interface StackPage {
  /** The files of its app, with those that it takes from another page. */
  readonly files: Readonly<Record<string, string>>;
  /** The blocks of commands below a heading, in their order. */
  commands(heading: string): string[];
}

export function readPage(name: string): StackPage {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const path = `examples/stacks/${name}.md`;
  const text = read(path);
  const sections = text.split(/^## /m);
  return {
    files: filesOfStack(path, read),
    commands(heading) {
      const section = sections.find((section) => section.startsWith(`${heading}\n`));
      if (section === undefined) throw new Error(`${name}.md has no heading "${heading}"`);
      const withoutFiles = section.replace(/`[^`\n]+`:\n+```\w*\n[\s\S]*?^```$/gm, '');
      return [...withoutFiles.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    },
  };
}
