/** A text on one line, and without what a terminal would obey: another program may send anything. */
export function printable(text: string): string {
  const line = text.slice(0, 300).replace(/\s+/g, ' ').trim();
  return line.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
