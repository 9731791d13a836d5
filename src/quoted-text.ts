import type { PlantHeaders, PlantRequest } from './http.js';
import { propertyOf } from './property-of.js';
import { anything, sourcesOf } from './quotable.js';

/** The most text, in characters, that is taken out of a message: to look for each word of it takes a few milliseconds. */
const mostText = 262_144;

/**
 * The text of what an error may quote; `''` if it quotes nobody, `undefined` if what it may quote is not known, or too much to
 * be taken out of its message.
 */
export function quotableOf(error: unknown): string | undefined {
  const sources = sourcesOf(error);
  if (!sources || sources.includes(anything)) return undefined;
  const found: string[] = [];
  let length = 0;
  const add = (text: string) => {
    length += text.length;
    if (length <= mostText) found.push(text);
  };
  for (const source of sources) addTexts(source, add, 0);
  return length > mostText ? undefined : found.join('\n');
}

/** How deep the values of a source are looked at: the rows of a batch, the members of a parsed body. */
const deepest = 4;

function addTexts(source: unknown, add: (text: string) => void, depth: number): void {
  if (typeof source === 'string') add(source);
  else if (typeof source === 'bigint' || typeof source === 'number') add(String(source));
  else if (source instanceof Uint8Array) add(new TextDecoder().decode(source));
  else if (source instanceof Date) add(JSON.stringify(source));
  else if (isRequest(source)) addRequest(source, add);
  else if (Object(source) === source && depth < deepest)
    for (const value of Object.values(source as object)) addTexts(value, add, depth + 1);
}

function isRequest(source: unknown): source is PlantRequest {
  return typeof propertyOf(source, 'method') === 'string' && typeof propertyOf(source, 'url') === 'string';
}

/** Words of the protocol in the value of a header, and names of this machine: they tell nothing of a client. */
const ofProtocol =
  /^(?:application\/json|text\/(?:plain|html)|\*\/\*|\*|charset=utf-8|keep-alive|close|gzip|deflate|br|zstd|cors|node|localhost|[\d.:]+|q=[\d.]+|)$/i;

/** The values of its headers, its query, the claims of a JWT, and a body that the host has parsed. Not its path, which a line has. */
function addRequest(request: PlantRequest, add: (text: string) => void): void {
  for (const value of headerValues(request.headers)) {
    // Word by word: in one expression, this would take time that is exponential in the length.
    if (value.split(/[,; ]/).every((word) => ofProtocol.test(word))) continue;
    addEncoded(value, add);
    for (const part of value.split('.')) add(base64(part));
  }
  addEncoded(request.url.split('?').slice(1).join('?'), add);
  addTexts(propertyOf(request.raw, 'body'), add, deepest - 1);
}

/** A query or a header, and its values as the app's parsers of queries and cookies decode them. */
function addEncoded(text: string, add: (text: string) => void): void {
  add(text);
  if (!/[%+]/.test(text)) return;
  // Unlike decodeURIComponent, it decodes the rest of a text with a percent sign that stands for itself.
  for (const [key, value] of new URLSearchParams(text.replaceAll(';', '&'))) {
    add(key);
    add(value);
  }
}

function headerValues(headers: PlantHeaders): string[] {
  try {
    const { forEach } = headers as { forEach?: unknown };
    if (typeof forEach !== 'function') return Object.values(headers).flat().map(String);
    const values: string[] = [];
    (headers as unknown as Headers).forEach((value) => void values.push(value));
    return values;
  } catch {
    // A host's own headers, or a getter that throws.
    return [];
  }
}

/** What a text in base64, of either alphabet, stands for, as UTF-8; `''` if it is none. */
export function base64(text: string): string {
  try {
    return utf8(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return '';
  }
}

/** @param bytes a character for each byte */
export function utf8(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}
