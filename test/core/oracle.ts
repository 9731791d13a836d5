// A reader of plants that shares no code with src/. `JSON.parse` decides whether a text is JSON, and decodes its strings.
// What it loses is read here from the tokens: repeated members, and the digits of a number.
import type { NewPlant } from 'plant-store';

/** A value of JSON: its first token, and the members of an object in their order. */
interface Value {
  readonly token: string;
  readonly members: readonly (readonly [name: string, value: Value])[];
}

/** The tokens of a text that is JSON. */
const tokensOf = (text: string) => text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,]+/g)!;

/** Reads a value from its first token to its last. */
function read(token: string, next: () => string): Value {
  const members: [string, Value][] = [];
  const isObject = token === '{';
  if (isObject || token === '[') {
    for (let first = next(); first !== '}' && first !== ']'; first = next()) {
      if (first === ',') continue;
      if (!isObject) {
        read(first, next);
        continue;
      }
      next(); // The colon.
      members.push([JSON.parse(first), read(next(), next)]);
    }
  }
  return { token, members };
}

/** The plant in a text, or the name of the problem. */
export function readPlant(text: string): NewPlant | 'body_not_json' | 'plant_invalid' {
  try {
    JSON.parse(text);
  } catch {
    return 'body_not_json';
  }
  const [first, ...rest] = tokensOf(text);
  const { members } = read(first!, () => rest.shift()!);
  const given = members.filter(([name]) => ['id', 'name', 'tag'].includes(name));
  const found = new Map(given);
  if (found.size < given.length) return 'plant_invalid';
  const id = integer(found.get('id')?.token);
  const name = storable(found.get('name')?.token);
  const tag = storable(found.get('tag')?.token);
  if (id === undefined || name === undefined || (found.has('tag') && tag === undefined))
    return 'plant_invalid';
  return tag === undefined ? { id, name } : { id, name, tag };
}

/** The int64 that a number is, by moving the point through its digits as one does on paper. */
function integer(token = ''): bigint | undefined {
  if (!/^[-\d]/.test(token)) return undefined;
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Math.min(Math.max(Number(exponent), -2000), 2000);
  const zeros = '0'.repeat(2000);
  const digits = zeros + whole + fraction + zeros;
  const point = 2000 + whole.length + shift;
  if (/[1-9]/.test(digits.slice(point))) return undefined;
  const magnitude = BigInt(digits.slice(0, point));
  const signed = token.startsWith('-') ? -magnitude : magnitude;
  return signed >= -(2n ** 63n) && signed < 2n ** 63n ? signed : undefined;
}

/** A string that every database keeps: no U+0000, no half of a surrogate pair. */
function storable(token = ''): string | undefined {
  if (!token.startsWith('"')) return undefined;
  const text: string = JSON.parse(token);
  try {
    // Throws on half of a surrogate pair.
    encodeURIComponent(text);
  } catch {
    return undefined;
  }
  return text.includes('\u0000') ? undefined : text;
}
