// A reader of plants that shares no code with src/: RFC 8259 character by character, without JSON.parse, without a double.
import type { NewPlant } from 'plant-store';

class NotJson extends Error {}

/** A value of JSON: a number as its text, the members of an object in their order. */
type Value =
  | { readonly kind: 'number' | 'string'; readonly text: string }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Value])[] }
  | { readonly kind: 'array' | 'literal' };

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Value {
    const value = this.#value();
    if (this.#at < this.#text.length) throw new NotJson();
    return value;
  }

  /** A value and the white space around it. */
  #value(): Value {
    this.#space();
    const value = this.#bare();
    this.#space();
    return value;
  }

  #bare(): Value {
    const next = this.#text[this.#at];
    if (next === '{') return this.#object();
    if (next === '[') return this.#array();
    if (next === '"') return { kind: 'string', text: this.#string() };
    const literal = ['true', 'false', 'null'].find((word) => this.#text.startsWith(word, this.#at));
    if (!literal) return { kind: 'number', text: this.#number() };
    this.#at += literal.length;
    return { kind: 'literal' };
  }

  #object(): Value {
    const members: [string, Value][] = [];
    this.#at++;
    this.#space();
    if (this.#took('}')) return { kind: 'object', members };
    do {
      this.#space();
      const key = this.#string();
      this.#space();
      this.#take(':');
      members.push([key, this.#value()]);
    } while (this.#took(','));
    this.#take('}');
    return { kind: 'object', members };
  }

  #array(): Value {
    this.#at++;
    this.#space();
    if (this.#took(']')) return { kind: 'array' };
    do this.#value();
    while (this.#took(','));
    this.#take(']');
    return { kind: 'array' };
  }

  #string(): string {
    this.#take('"');
    let content = '';
    while (!this.#took('"')) {
      const character = this.#text.charAt(this.#at++);
      if (character < ' ') throw new NotJson();
      content += character === '\\' ? this.#escape() : character;
    }
    return content;
  }

  #escape(): string {
    const mark = this.#text.charAt(this.#at++);
    const plain = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }[mark];
    if (plain) return plain;
    if (mark !== 'u') throw new NotJson();
    let unit = 0;
    for (let i = 0; i < 4; i++) {
      const digit = '0123456789abcdef'.indexOf(this.#text.charAt(this.#at++).toLowerCase() || '?');
      if (digit < 0) throw new NotJson();
      unit = unit * 16 + digit;
    }
    return String.fromCharCode(unit);
  }

  #number(): string {
    const start = this.#at;
    this.#took('-');
    if (!this.#took('0')) this.#digits();
    if (this.#took('.')) this.#digits();
    if (this.#took('e') || this.#took('E')) {
      if (!this.#took('+')) this.#took('-');
      this.#digits();
    }
    return this.#text.slice(start, this.#at);
  }

  #digits(): void {
    const start = this.#at;
    while (this.#at < this.#text.length && '0123456789'.includes(this.#text.charAt(this.#at))) this.#at++;
    if (this.#at === start) throw new NotJson();
  }

  #space(): void {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text.charAt(this.#at))) this.#at++;
  }

  #took(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #take(character: string): void {
    if (!this.#took(character)) throw new NotJson();
  }
}

/** The plant in a text, or the name of the problem. */
export function readPlant(text: string): NewPlant | 'body_not_json' | 'plant_invalid' {
  let value: Value;
  try {
    value = new Reader(text).read();
  } catch (error) {
    if (error instanceof NotJson) return 'body_not_json';
    throw error;
  }
  if (value.kind !== 'object') return 'plant_invalid';
  const found = new Map<string, Value>();
  for (const [name, member] of value.members) {
    if (!['id', 'name', 'tag'].includes(name)) continue;
    if (found.has(name)) return 'plant_invalid';
    found.set(name, member);
  }
  const id = integer(found.get('id'));
  const name = storable(found.get('name'));
  const tag = storable(found.get('tag'));
  if (id === undefined || name === undefined || (found.has('tag') && tag === undefined))
    return 'plant_invalid';
  return tag === undefined ? { id, name } : { id, name, tag };
}

/** The int64 that a number is, by moving the point through its digits as one does on paper. */
function integer(value: Value | undefined): bigint | undefined {
  if (value?.kind !== 'number') return undefined;
  const [mantissa = '', exponent = '0'] = value.text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Math.min(Math.max(Number(exponent), -2000), 2000);
  const zeros = '0'.repeat(2000);
  const digits = zeros + whole + fraction + zeros;
  const point = 2000 + whole.length + shift;
  if (/[1-9]/.test(digits.slice(point))) return undefined;
  const magnitude = BigInt(digits.slice(0, point));
  const signed = value.text.startsWith('-') ? -magnitude : magnitude;
  return signed >= -(2n ** 63n) && signed < 2n ** 63n ? signed : undefined;
}

/** A string that every database keeps: no U+0000, no half of a surrogate pair. */
function storable(value: Value | undefined): string | undefined {
  if (value?.kind !== 'string') return undefined;
  try {
    // Throws on half of a surrogate pair.
    encodeURIComponent(value.text);
  } catch {
    return undefined;
  }
  return value.text.includes('\u0000') ? undefined : value.text;
}
