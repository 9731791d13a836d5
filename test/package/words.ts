// Part of `npm run check`: phrases that the pages and the published code must not use, because HTTP, SQL and Node have words
// for them (.github/CONTRIBUTING.md, House style), and SQL that is not safe to copy. Tests may use any words.
import { readdirSync, readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/** From a phrase to the words to use instead. A space stands for any white space, also across the lines of a comment. */
const phrases: Readonly<Record<string, string>> = {
  '(is|are|was|were|be) answered': 'returns 200, gets a response; a promise settles',
  'hand(s|ed|ing)? (it |them |the requests? )on': 'passes to, calls next()',
  '(go|goes|gone|went) away': 'disconnects',
  'out of reach': 'unavailable',
  'ha(s|ve|d) no room': 'is overloaded, its queue is full',
  'time (is|was) over': 'timed out',
  '(turn|turns|turned) down': 'rejects',
  'in doubt': 'outcome unknown',
};
const rules = Object.entries(phrases).map(([words, use]) => ({
  words: new RegExp(`\\b(?:${words.replaceAll(' ', '(?:\\s|\\*|//)+')})\\b`, 'gi'),
  use,
}));

/** SQL that ignores a conflict of every constraint: a second unique column then looks like a taken id. Tests show none either. */
const bareSql = {
  words: /\bON\s+CONFLICT\s+DO\b|\bINSERT\s+(OR\s+)?(IGNORE|REPLACE)\b/gi,
  use: 'ON CONFLICT (id) DO NOTHING',
};

/** What a file says in those phrases or in such SQL, with its lines. */
export function faultsIn(file: string, text: string): string[] {
  const find = (read: string) => (rule: typeof bareSql) =>
    [...read.matchAll(rule.words)].map(({ 0: found, index }) => {
      const line = read.slice(0, index).split('\n').length;
      return `${file}:${line}: not "${found.replace(/(\s|\*|\/\/)+/g, ' ')}", but: ${rule.use}`;
    });
  // A page may quote code, and the guide quotes the phrases.
  const prose = file.endsWith('.md')
    ? text
        .split('\n## House style\n')[0]!
        .replace(/^```[\s\S]*?^```$|`[^`\n]*`/gm, (code) => code.replace(/\S/g, ' '))
    : text;
  return [...find(text)(bareSql), ...(file.startsWith('test/') ? [] : rules.flatMap(find(prose)))];
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const files = ['.github', 'adapters', 'examples', 'src', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const faults = ['README.md', ...files]
    .filter((file) => /\.(ts|js|mjs|md|json|sql)$/.test(file) && file !== 'test/package/words.test.ts')
    .flatMap((file) => faultsIn(file, readFileSync(file, 'utf8')));
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exitCode = 1;
  }
}
