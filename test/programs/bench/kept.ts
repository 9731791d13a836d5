/** The figures that are kept: figures.json, and what is drawn from it, the table in README.md and the picture. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { picture } from './picture.js';
import { heading, line, type Result } from './report.js';

const file = (name: string) => new URL(name, import.meta.url);
const figures = file('figures.json');
const readme = file('README.md');
const duels = file('duels.svg');

interface Figures {
  readonly machine: string;
  readonly results: readonly Result[];
}

/** Keeps the results in place of earlier ones of the same rows, and draws everything again. */
export function keep(results: readonly Result[]): void {
  const key = ({ what, against, generator }: Result) => `${what}|${against}|${generator}`;
  const fresh = new Map(results.map((result) => [key(result), result]));
  const kept = readKept().results.map((old) => {
    const result = fresh.get(key(old)) ?? old;
    fresh.delete(key(old));
    return result;
  });
  const [cpu] = cpus();
  const machine = `Node ${process.versions.node}, ${cpus().length} cores of ${cpu?.model.trim()}`;
  writeFileSync(figures, `${JSON.stringify({ machine, results: [...kept, ...fresh.values()] }, null, 2)}\n`);
  const drawn = draw();
  writeFileSync(readme, drawn.readme);
  writeFileSync(duels, drawn.picture);
}

/** What README.md and the picture have to be. */
export function draw(): { readme: string; picture: string } {
  const { machine, results } = readKept();
  const table = [heading, ...results.map(line)].join('\n');
  const text = readFileSync(readme, 'utf8');
  const between = /(<!-- figures -->\n).*(\n<!-- \/figures -->)/s;
  return {
    readme: text.replace(between, (_, start, end) => `${start}${machine}:\n\n${table}${end}`),
    picture: picture(results),
  };
}

/** What is there now. */
export const current = (): { readme: string; picture: string } => ({
  readme: readFileSync(readme, 'utf8'),
  picture: readFileSync(duels, 'utf8'),
});

function readKept(): Figures {
  try {
    return JSON.parse(readFileSync(figures, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { machine: '', results: [] };
  }
}
