import { cutsSpaces } from '../_shared/columns.js';
import { textOf, type Value } from '../_shared/rows.js';
import type { Dialect } from '../_shared/table.js';

const utf8 = 'COLLATE utf8mb4_bin';
const text = `LONGTEXT ${utf8}`;
// Not CHAR, which loses trailing spaces, and not ENUM, which changes the case.
const texts = /^(varchar|\w*text)/;

export const dialect: Dialect = {
  mark: '`',
  container: 'database',
  types: { id: 'BIGINT', name: text, tag: text },
  exact: {
    id: /^(\w*int|decimal\(\d+,0\)|varchar|\w*text)/,
    name: texts,
    tag: texts,
    // Not ENUM and SET, which take a number for the place of a word.
    namespace: /^(\w*int|decimal\(\d+,0\)|varchar|char|varbinary|uuid)/,
  },
  changes,
  sent: sentTo,
  // Longer ones fit no index.
  text: `VARCHAR(255) ${utf8}`,
  ending: ' ENGINE = InnoDB',
};

/** A value as it is sent. The driver writes a Date in the pool's own time zone, in which it reads it again. */
export function sentTo(value: Value): string | Date | null {
  return value instanceof Date ? value : textOf(typeof value === 'boolean' ? Number(value) : value);
}

/** The bits of a length in bytes, of the types that have none: they lose trailing spaces beyond it, with a warning alone. */
const lengthBits: Record<string, number> = { tinytext: 8, text: 16, mediumtext: 24 };

function changes(type: string): ((text: string) => boolean) | undefined {
  const [, kind, words] = /^(enum|set)\((.*)\)$/.exec(type) ?? [];
  if (kind) {
    // The server takes a number for the place of a word, or for a sum of such places. It quotes the words like this.
    const isWord = (word: string) => `,${words},`.includes(`,'${word.replace(/['\\]/g, '$&$&')}',`);
    return (text) => !(kind === 'set' ? text.split(',').filter(Boolean) : [text]).every(isWord);
  }
  const bits = lengthBits[type];
  return bits
    ? (text) => text.endsWith(' ') && new TextEncoder().encode(text).length >= 2 ** bits
    : cutsSpaces(type);
}
