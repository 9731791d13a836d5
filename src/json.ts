/** The members of a JSON object that a plant is made of. */
export interface Members {
  /** A `bigint` where the text holds an integer of up to 19 digits, else whatever it holds, but never a number. */
  readonly id: unknown;
  readonly name: unknown;
  readonly tag: unknown;
  /** Those given more than once: two readers of the same text could take different ones. */
  readonly repeated: readonly string[];
}

/**
 * Parses JSON text and keeps the id exact. `JSON.parse` decides what is valid; the digits of the id are then read
 * from the text, because a double holds only 53 bits of them.
 *
 * @returns `undefined` for JSON that is not an object
 * @throws {SyntaxError} for text that is not JSON
 */
export function parseMembers(text: string): Members | undefined {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return undefined;
  const { id, name, tag } = value;
  if (plain.test(text)) {
    const digits = Number.isSafeInteger(id) ? id : text.slice(text.indexOf(':') + 1, text.indexOf(','));
    return { id: BigInt(digits as number | string), name, tag, repeated: [] };
  }
  const { afterId, repeated } = scanTopLevel(text);
  return { id: typeof id === 'number' ? integerAfter(text, afterId) : id, name, tag, repeated };
}

/** Whether a value is what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What most clients send: the members once each, in the contract's order, an id of digits alone, and no escapes.
 * It says in one look what the scan below finds out step by step.
 */
const plain = /^\{ ?"id": ?-?\d{1,19}, ?"name": ?"[^"\\]*"(?:, ?"tag": ?"[^"\\]*")? ?\}$/;

const members = ['id', 'name', 'tag'] as const;

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Reads the top level of the text of a JSON object: where the last `id` key ends, and which of the members came
 * again. Not recursive, so depth costs no stack, and linear.
 */
function scanTopLevel(text: string): { afterId: number; repeated: readonly string[] } {
  const count = { id: 0, name: 0, tag: 0 };
  let afterId = 0;
  let depth = 0;
  let keyIsNext = false;
  for (let i = 0, dull = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote: {
        const start = i + 1;
        i = endOfString(text, start);
        if (!keyIsNext) break;
        keyIsNext = false;
        const raw = text.slice(start, i);
        const key = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
        if (key !== 'id' && key !== 'name' && key !== 'tag') break;
        count[key as keyof typeof count]++;
        if (key === 'id') afterId = i + 1;
        break;
      }
      case openBrace:
      case openBracket:
        keyIsNext = ++depth === 1;
        break;
      case closeBrace:
      case closeBracket:
        depth--;
        break;
      case comma:
        keyIsNext = depth === 1;
        break;
      default:
        if (++dull % patience === 0) i = skip(outsideStrings, text, i) - 1;
    }
  }
  const repeated = members.filter((name) => count[name] > 1);
  return { afterId, repeated };
}

/** The index of the quote that ends a string whose first character is at `from`: an even number of backslashes is before it. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); ; end = text.indexOf('"', end + 1)) {
    let start = end;
    while (text.charCodeAt(start - 1) === backslash) start--;
    if ((end - start) % 2 === 0) return end;
  }
}

// A sticky expression runs over a long stretch at several times the speed of a loop, but is slow to start.
const outsideStrings = /[^"{}[\],]*/y;
const zeros = /0*/y;
const patience = 16;

/** The index after what `run` matches at `from`. */
function skip(run: RegExp, text: string, from: number): number {
  run.lastIndex = from;
  run.test(text);
  return run.lastIndex;
}

/** What follows a key that has a number: its sign, digits, fraction and exponent. */
const numberMember = /\s*:\s*(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/iy;

/**
 * The number after a key when it is an integer of up to 19 digits, as an int64 is, however it is spelt: `1.0` and
 * `1e3` are integers to JSON Schema. Digits decide, never a double. They are counted before they become a `bigint`, so that `1e999999999`
 * allocates nothing.
 */
function integerAfter(text: string, afterKey: number): bigint | undefined {
  numberMember.lastIndex = afterKey;
  const [, sign = '', whole = '', fraction = '', exponent = 0] = numberMember.exec(text) ?? [];
  const digits = whole + fraction;
  const first = skip(zeros, digits, 0);
  if (first === digits.length) return 0n;
  // No more than 19 digits may be other than the zeros around them.
  const significant = digits.slice(first, first + 19).replace(/0+$/, '');
  const end = first + significant.length;
  if (skip(zeros, digits, end) < digits.length) return undefined;
  const shift = Number(exponent) - fraction.length + digits.length - end;
  if (shift < 0 || significant.length + shift > 19) return undefined;
  return BigInt(sign + significant + '0'.repeat(shift));
}
