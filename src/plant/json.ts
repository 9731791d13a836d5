import { Refusal } from '../errors/problems.js';
import { BodyError, type Json } from '../http.js';
import { type Members, memberNames, type NewPlant, toNewPlant } from './plant.js';

/** The plant in a body. */
export function parsePlant(json: Json): NewPlant {
  return toNewPlant(typeof json === 'string' ? fromText(json) : fromParsed(json.parsed));
}

/**
 * A body as most clients write it: each member once and none escaped, so that its key is the one that `JSON.parse` reads; an id
 * of so few digits is exact as a double. It says nothing of control characters and leading zeros, which `JSON.parse` rejects.
 * Linear: what may repeat and what follows it have no character in common.
 */
const usual = /^\{"id": ?\d{1,15}, ?"name": ?"[^"\\]*"(?:, ?"tag": ?"[^"\\]*")?\}$/;

/**
 * Parses JSON and keeps the id exact (a double has 53 bits). `JSON.parse` validates, and a second pass reads the digits
 * of the id, unless the text shows that there is no other reading.
 *
 * @returns `undefined` for JSON that is not an object
 */
function fromText(text: string): Members | undefined {
  try {
    const given = plantMembers(JSON.parse(text));
    if (!given) return undefined;
    const { id, name, tag } = given;
    if (usual.test(text)) return { id: BigInt(id as number), name, tag, repeated: [] };
    const { idNumber, repeated } = scanTopLevel(text);
    return { id: typeof id === 'number' ? integerOf(idNumber, id) : id, name, tag, repeated };
  } catch {
    throw new Refusal('body_not_json');
  }
}

/** The members of a value that the host has parsed. */
function fromParsed(value: unknown): Members | undefined {
  const given = plantMembers(value);
  if (!given) return undefined;
  const { id } = given;
  // An id beyond 2^53 has lost digits, and they cannot be recovered.
  if (typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER) {
    // A mistake in the app's order of middleware, which a stack of plant-store would not show.
    throw new BodyError(
      'body_unreadable',
      'a body parser rounded the id: mount plant-store before it, or keep rawBody as adapters/hosts/README.md#behind-a-body-parser shows',
    );
  }
  return { ...given, id: Number.isInteger(id) ? BigInt(id as number) : id, repeated: [] };
}

/**
 * The value's own members: what an app adds to `Object.prototype` is not the client's.
 *
 * @returns `undefined` for what JSON does not call an object
 */
function plantMembers(value: unknown): Record<keyof NewPlant, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return { id: ownMember(value, 'id'), name: ownMember(value, 'name'), tag: ownMember(value, 'tag') };
}

function ownMember(value: object, name: keyof NewPlant): unknown {
  return Object.hasOwn(value, name) ? (value as Partial<Members>)[name] : undefined;
}

/**
 * Reads the top level of an object's text: the number of `id` (null if given twice) and which members are given twice.
 * A loop, not recursion: depth costs no stack.
 */
function scanTopLevel(text: string): { idNumber: RegExpExecArray | null; repeated: readonly string[] } {
  const given: string[] = [];
  const repeated: string[] = [];
  let idNumber: RegExpExecArray | null = null;
  let depth = 0;
  let keyIsNext = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '{' || character === '[') keyIsNext = ++depth === 1;
    else if (character === '}' || character === ']') depth--;
    else if (character === ',') keyIsNext = depth === 1;
    if (character !== '"') continue;
    const start = i + 1;
    i = endOfString(text, start);
    if (!keyIsNext) continue;
    keyIsNext = false;
    const raw = text.slice(start, i);
    const key = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
    if (!memberNames.includes(key)) continue;
    const isFirst = !given.includes(key);
    if (isFirst) given.push(key);
    else if (!repeated.includes(key)) repeated.push(key);
    if (key !== 'id') continue;
    numberMember.lastIndex = i + 1;
    idNumber = isFirst ? numberMember.exec(text) : null;
    if (idNumber) i = numberMember.lastIndex - 1;
  }
  return { idNumber, repeated };
}

/** The index of the quote that ends a string whose first character is at `from`. */
function endOfString(text: string, from: number): number {
  const end = text.indexOf('"', from);
  if (text[end - 1] !== '\\') return end;
  for (let i = from; ; i++) {
    if (text[i] === '"') return i;
    if (text[i] === '\\') i++;
  }
}

/** What follows a key that has a number (RFC 8259 §6), in text that is known to be JSON: sign, whole, fraction, exponent. */
const numberMember = /\s*:\s*(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/iy;

/**
 * An integer in any notation (`1.0` and `1e3` are integers to JSON Schema), from its digits. `double`, which JSON.parse
 * made of the same digits, only rejects what is certainly no int64, such as 1e999999999, so that no huge number is ever
 * written out.
 */
function integerOf(number: RegExpExecArray | null, double: number): bigint | undefined {
  if (!Number.isInteger(double) || Math.abs(double) > 2 ** 63) return undefined;
  // null if the id came twice; that is refused later.
  const [, sign, whole = '', fraction = '', exponent = 0] = number ?? [];
  const digits = whole + fraction;
  // If the double is 0, every digit must be 0.
  const point = double && whole.length + Number(exponent);
  if (point < digits.length && skipZeros(digits, point) < digits.length) return undefined;
  const first = skipZeros(digits, 0);
  const magnitude = BigInt(digits.slice(first, point).padEnd(point - first, '0'));
  return sign ? -magnitude : magnitude;
}

/** The index of the first digit at or after `from` that is not 0. */
function skipZeros(digits: string, from: number): number {
  return from + digits.slice(from).search(/[^0]|$/);
}
