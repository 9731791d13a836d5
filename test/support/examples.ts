import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.js';

/** The programs of `examples/`: from the name of each to its path from the root. */
export const examples: ReadonlyMap<string, string> = new Map(
  readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: room }) =>
      readdirSync(join(root, 'examples', room))
        .filter((file) => file.endsWith('.ts'))
        .map((file) => [file.replace(/\.ts$/, ''), `examples/${room}/${file}`] as const),
    ),
);
