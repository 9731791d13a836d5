/** A text on one line, and without what a terminal would obey: another program may send anything. */
export function printable(text: string): string {
  const line = text.slice(0, 300).replace(/\s+/g, ' ').trim();
  return line.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What came in place of a known word or a number: itself, if it is one. A URL may have a password, and another text be a token. */
export function described(given: string | undefined): string {
  if (!given) return 'nothing';
  if (given.includes('://')) return 'a URL';
  return /^([a-z]{1,20}|-?[\d.]{1,20})$/i.test(given) ? `"${given}"` : 'something else';
}
