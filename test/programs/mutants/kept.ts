/** The results that are kept: results.json, and the table of README.md, which is printed from it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeptPage, readKept } from '../../support/kept-page.js';
import { root } from '../../support/root.js';

/** The last run of one file. */
export interface Result {
  readonly file: string;
  readonly mutants: number;
  readonly survivors: number;
  /** The day and the commit of the run. */
  readonly date: string;
  readonly commit: string;
}

const results = new URL('results.json', import.meta.url);
const page = new KeptPage(new URL('README.md', import.meta.url), 'results');
const kept = () => readKept<readonly Result[]>(results, []);

/** Keeps the results in place of earlier results of the same files, drops deleted files, and prints the page again. */
export function keep(fresh: readonly Result[]): void {
  const byFile = new Map([...kept(), ...fresh].map((result) => [result.file, result]));
  const sorted = [...byFile.values()]
    .filter(({ file }) => existsSync(join(root, file)))
    .sort((a, b) => (a.file < b.file ? -1 : 1));
  writeFileSync(results, `${JSON.stringify(sorted, null, 2)}\n`);
  page.write(table(sorted));
}

export const killed = (mutants: number, survivors: number): string =>
  `${((100 * (mutants - survivors)) / mutants).toFixed(1)} %`;

/** A row for each folder, each with a row for each of its files. */
export function table(all: readonly Result[]): string {
  const rows = ['src/', 'adapters/', 'test/published/'].flatMap((folder) => {
    const inFolder = all.filter(({ file }) => file.startsWith(folder));
    const sum = (of: 'mutants' | 'survivors') => inFolder.reduce((total, result) => total + result[of], 0);
    if (inFolder.length === 0) return [];
    return [
      `| **all of \`${folder}\`** | ${sum('mutants')} | ${sum('survivors')} | **${killed(sum('mutants'), sum('survivors'))}** | |`,
      ...inFolder.map(
        ({ file, mutants, survivors, date, commit }) =>
          `| \`${file}\` | ${mutants} | ${survivors} | ${killed(mutants, survivors)} | ${date}, ${commit} |`,
      ),
    ];
  });
  return ['| file | mutants | survive | killed | run |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The page as it is, and as it has to be. */
export const pages = (): { current: string; expected: string } => ({
  current: page.current,
  expected: page.with(table(kept())),
});
