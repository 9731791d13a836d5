/** Text that is HTML already, and is not escaped again. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = string | number | bigint | Html | readonly Html[];

/** A template of HTML. Every value in it is escaped, so that no text of the document can become a tag. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(toText)));
}

function toText(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(toText).join('');
  return String(value).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A description of the document: what stands between backticks is code. A table in it is left out. */
export function prose(text = ''): Html {
  const [first = ''] = text.split('\n\n|');
  return new Html(toText(first.trim()).replace(/`([^`]+)`/g, '<code>$1</code>'));
}
