import { readFileSync, writeFileSync } from 'node:fs';

/** A page with a part that a program writes from kept data: the lines between `<!-- name -->` and `<!-- /name -->`. */
export class KeptPage {
  readonly #page: URL;
  readonly #part: RegExp;

  constructor(page: URL, name: string) {
    this.#page = page;
    this.#part = new RegExp(`(<!-- ${name} -->\n).*(\n<!-- /${name} -->)`, 's');
  }

  get current(): string {
    return readFileSync(this.#page, 'utf8');
  }

  /** The page with this text as its part. */
  with(part: string): string {
    return this.current.replace(this.#part, (_, start, end) => `${start}${part}${end}`);
  }

  write(part: string): void {
    writeFileSync(this.#page, this.with(part));
  }
}

/** The data that a program keeps in a JSON file, or `fallback` if the file does not exist. */
export function readKept<T>(file: URL, fallback: T): T {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return fallback;
  }
}
