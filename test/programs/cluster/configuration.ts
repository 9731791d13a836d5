import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the configuration lives that people copy, and that the tests run. */
const configurationFolder = fileURLToPath(new URL('../../../examples/cluster', import.meta.url));

export const nodeNames = ['garden-a', 'garden-b', 'garden-c'] as const;

/** Loopback addresses that no other program uses, so that every program keeps the port that its file names. */
export class Network {
  readonly #prefix = `127.${100 + (process.pid % 150)}.${Math.floor(Math.random() * 256)}.`;

  /** What the files call 10.0.0.10: the machine of the apps. */
  readonly front = `${this.#prefix}10`;

  /** What the files call 10.0.0.11 to 10.0.0.13. */
  readonly nodes = [11, 12, 13].map((last) => this.#prefix + last);

  /** A file of `examples/cluster` with these addresses, this folder, and this node's own lines. */
  configure(file: string, folder: string, node = 0): string {
    return (
      readFileSync(join(configurationFolder, file), 'utf8')
        .replace(/^.*# this node$/gm, (line) =>
          line.replaceAll('garden-a', nodeNames[node]!).replaceAll('10.0.0.11', `10.0.0.${11 + node}`),
        )
        // A client of any address of loopback comes from 127.0.0.1.
        .replaceAll('10.0.0.0/24', '127.0.0.1/32')
        .replaceAll('10.0.0.', this.#prefix)
        .replaceAll('/var/lib/plants', folder)
    );
  }
}
