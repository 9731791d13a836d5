/** The figures that are kept: figures.json, and the table in README.md and the picture, which are drawn from it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { KeptPage, readKept } from '../../support/kept-page.js';
import { picture } from './picture.js';
import { heading, line, type Result } from './report.js';

const figures = new URL('figures.json', import.meta.url);
const hosts = new URL('hosts.svg', import.meta.url);
const readme = new KeptPage(new URL('README.md', import.meta.url), 'figures');

interface Figures {
  readonly machine: string;
  readonly results: readonly Result[];
}
const kept = () => readKept<Figures>(figures, { machine: '', results: [] });

/** Keeps the results in place of earlier results of the same rows, and draws everything again. */
export function keep(results: readonly Result[]): void {
  const key = ({ what, against, generator }: Result) => `${what}|${against}|${generator}`;
  const fresh = new Map(results.map((result) => [key(result), result]));
  const older = kept().results.map((old) => {
    const result = fresh.get(key(old)) ?? old;
    fresh.delete(key(old));
    return result;
  });
  const [cpu] = cpus();
  const machine = `Node ${process.versions.node}, ${cpus().length} cores of ${cpu?.model.trim()}`;
  writeFileSync(figures, `${JSON.stringify({ machine, results: [...older, ...fresh.values()] }, null, 2)}\n`);
  readme.write(table());
  writeFileSync(hosts, picture(kept().results));
}

function table(): string {
  const { machine, results } = kept();
  return `${machine}:\n\n${[heading, ...results.map(line)].join('\n')}`;
}

/** README.md and the picture as they have to be. */
export const draw = (): { readme: string; picture: string } => ({
  readme: readme.with(table()),
  picture: picture(kept().results),
});

/** README.md and the picture as they are. */
export const current = (): { readme: string; picture: string } => ({
  readme: readme.current,
  picture: readFileSync(hosts, 'utf8'),
});
