import { base64, utf8 } from './quoted-text.js';

/** In place of what was taken out. */
const gap = '…';

/**
 * Escapes: of URLs, also twice; of JSON, JavaScript and SQL; of HTML. And bytes as Node and drivers show them. Nobody needs them,
 * and each may be a part of a value.
 */
const escapes =
  /(?:%(?:25)*[0-9a-f]{2}|\\+(?:u\{?[0-9a-f]{2,6}\}?|x[0-9a-f]{2}|[0-7]{3}|.)|&#?\w{1,8};)+|(?:\b[0-9a-f]{2}\b[ ,:]*){4,}|(?:\b\d{1,3}\b[ ,]+){3,}\d{1,3}/gi;

/** A word of any language, or a number. */
const words = /[\p{L}\p{N}\p{M}]+/gu;

/** A text in quotation marks or brackets that is too short for a word. */
const short = /(?<=["'`([=])[^"'`)\]]{1,3}(?=["'`)\]])/gu;

/**
 * Takes every word that is in `quoted` out of a message: whole ones and parts of four characters or more, and those in base64 or
 * in hexadecimal digits. So a value is not shown in whatever spelling a driver has put it there.
 *
 * @param message as much of it as is shown, because the time grows with its length
 */
export function takeOut(message: string, quoted: string): string {
  if (quoted === '') return message;
  const lines = new Set(quoted.split('\n'));
  let left = message
    .replace(escapes, gap)
    .replace(short, (text) => (lines.has(text) ? gap : text))
    .replace(words, (word) => (isIn(quoted, word) ? gap : word));
  // The short words of a value, which would be in every message by themselves.
  for (let before = ''; before !== left; ) {
    before = left;
    left = left
      .replace(afterGap, (all, rest) => (quoted.includes(rest) ? gap : all))
      .replace(beforeGap, (all, rest) => (quoted.includes(rest) ? gap : all));
  }
  return left.replace(/…(?:[^\p{L}\p{N}…]{1,3}…)+/gu, gap);
}

/** A short word next to a gap, with what is between them. */
const afterGap = /…([^\p{L}\p{N}…]{0,3}[\p{L}\p{N}]{1,3})(?![\p{L}\p{N}])/gu;
const beforeGap = /(?<![\p{L}\p{N}])([\p{L}\p{N}]{1,3}[^\p{L}\p{N}…]{0,3})…/gu;

function isIn(quoted: string, word: string): boolean {
  if (word.length >= 4 || /[^\0-\x7f]/.test(word)) if (quoted.includes(word)) return true;
  if (!isCode(word)) return false;
  // A code may be cut anywhere, and be next to other letters.
  return spellingsOf(word).some((spelling) => hasPartIn(quoted, spelling));
}

/** Whether a word is no word of a language: letters with digits or of both cases between them, or very many. */
function isCode(word: string): boolean {
  return word.length >= 6 && (/\d\p{L}|\p{L}\d|\p{Ll}\p{Lu}/u.test(word) || word.length >= 20);
}

/** A code, and what it stands for as base64 or in hexadecimal digits, from each place in a group that a cut may have left. */
function spellingsOf(code: string): string[] {
  const decoded = [0, 1, 2, 3].map((start) => base64(code.slice(start).replace(groups, '$1')));
  if (!/^[\da-f]+$/i.test(code)) return [code, ...decoded];
  return [code, ...decoded, fromHex(code), fromHex(code.slice(1))];
}

/** Whole groups of four characters of base64: the last, if it is cut, stands for no byte of its own. */
const groups = /^((?:.{4})*).*$/s;

function fromHex(digits: string): string {
  return utf8(
    digits.replace(/(..)|.$/g, (pair) => (pair[1] ? String.fromCharCode(Number.parseInt(pair, 16)) : '')),
  );
}

function hasPartIn(quoted: string, text: string): boolean {
  for (let start = 0; start + 4 <= text.length; start++) {
    const part = text.slice(start, start + 4);
    if (/[\p{L}\p{N}]/u.test(part) && quoted.includes(part)) return true;
  }
  return false;
}
