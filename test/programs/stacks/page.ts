import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOfPage } from '../../../examples/server/stacks.js';
import { root } from '../../support/root.js';

/** A page of `examples/stacks/`. */
export interface StackPage {
  /** The files of its app. */
  readonly files: Readonly<Record<string, string>>;
  /** The blocks of commands below a heading, in their order. */
  commands(heading: string): string[];
}

export function readPage(name: string): StackPage {
  const text = readFileSync(join(root, `examples/stacks/${name}.md`), 'utf8');
  const sections = text.split(/^## /m);
  return {
    files: filesOfPage(text),
    commands(heading) {
      const section = sections.find((section) => section.startsWith(`${heading}\n`));
      if (section === undefined) throw new Error(`${name}.md has no heading "${heading}"`);
      const withoutFiles = section.replace(/`[^`\n]+`:\n+```\w*\n[\s\S]*?^```$/gm, '');
      return [...withoutFiles.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    },
  };
}
