/** The members of a JSON object that a plant is made of. */
export interface Members {
  /** A `bigint` where the text holds an integer that may be an int64, else whatever it holds, but never a number. */
  readonly id: unknown;
  readonly name: unknown;
  readonly tag: unknown;
  /** Those given more than once: two readers of the same text could take different ones. */
  readonly repeated: readonly string[];
}

/**
 * Parses JSON text and keeps the id exact, because a double holds only 53 bits of its digits. What most clients send is
 * read by one expression; else `JSON.parse` decides what is valid, and a second pass finds the digits of the id.
 *
 * @returns `undefined` for JSON that is not an object
 * @throws {SyntaxError} for text that is not JSON
 */
export function parseMembers(text: string): Members | undefined {
  const usual = usualMembers(text);
  if (usual) return usual;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return undefined;
  const { id, name, tag } = value;
  const { idNumber, repeated } = scanTopLevel(text);
  return { id: typeof id === 'number' ? integerOf(idNumber, id) : id, name, tag, repeated };
}

/** Whether a value is what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The digits of an id, or a key and its string: three captures, of which those of the other kind are `undefined`. */
const { source: member } =
  / ?(?:"id" ?: ?(-?(?:0|[1-9]\d{0,18}))|"(name|tag)" ?: ?("[ !#-[\]-\uffff]*(?:\\.[ !#-[\]-\uffff]*)*")) ?/;
/** An object of a plant's members alone, in any order, the id in digits: a part of JSON, in which nothing is inexact. */
const usual = new RegExp(`^\\{${member}(?:,${member})?(?:,${member})?\\}$`);

/** The members of a text as most clients spell it, `undefined` for any other, and for one that gives a member twice. */
function usualMembers(text: string): Members | undefined {
  // On a long text, an expression that has to remember its way could take more memory than the text.
  const match = text.length <= 512 && usual.exec(text);
  if (!match) return undefined;
  let id: bigint | undefined;
  let name: string | undefined;
  let tag: string | undefined;
  for (let i = 1; i < match.length; i += 3) {
    const digits = match[i];
    const key = match[i + 1];
    if (digits) {
      if (id !== undefined) return undefined;
      id = BigInt(digits);
    } else if (key === 'name') {
      if (name !== undefined) return undefined;
      name = unquoted(match[i + 2]!);
    } else if (key) {
      if (tag !== undefined) return undefined;
      tag = unquoted(match[i + 2]!);
    }
  }
  return { id, name, tag, repeated: [] };
}

function unquoted(string: string): string {
  return string.includes('\\') ? JSON.parse(string) : string.slice(1, -1);
}

/**
 * Reads the top level of the text of a JSON object: the number of its id, unless that came again, and which of the
 * members did. Not recursive, so depth costs no stack, and linear.
 */
function scanTopLevel(text: string): { idNumber: RegExpExecArray | null; repeated: readonly string[] } {
  const given = new Set<string>();
  const repeated = new Set<string>();
  let idNumber: RegExpExecArray | null = null;
  let depth = 0;
  let keyIsNext = false;
  for (let i = 0, dullness = 0; i < text.length; i++) {
    switch (text[i]) {
      case '"': {
        const start = i + 1;
        i = endOfString(text, start);
        if (!keyIsNext) break;
        keyIsNext = false;
        const raw = text.slice(start, i);
        const key = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
        if (key === 'id') {
          numberMember.lastIndex = i + 1;
          idNumber = given.has(key) ? null : numberMember.exec(text);
          if (idNumber) i = numberMember.lastIndex - 1;
        }
        if (members.includes(key)) (given.has(key) ? repeated : given).add(key);
        break;
      }
      case '{':
      case '[':
        keyIsNext = ++depth === 1;
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ',':
        keyIsNext = depth === 1;
        break;
      default:
        // A sticky expression runs over a long stretch at several times the speed of a loop, but is slow to start.
        if (++dullness % 16 === 0) i = skip(dull, text, i) - 1;
    }
  }
  return { idNumber, repeated: [...repeated] };
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

// A list, not an object: V8 would keep each key that an object is asked for, in a table of all strings.
const members = ['id', 'name', 'tag'];

/** White space, and what numbers are made of but an e; in ranges, for each is a comparison. */
const dull = /[\0-!\--Z]*/y;
const zeros = /0*/y;

/** The index after what `run` matches at `from`. */
function skip(run: RegExp, text: string, from: number): number {
  run.lastIndex = from;
  run.test(text);
  return run.lastIndex;
}

/** What follows a key that has a number: its sign, digits, fraction and exponent. */
const numberMember = /\s*:\s*(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/iy;

/**
 * A number, if it is an integer however it is spelt: `1.0` and `1e3` are integers to JSON Schema. Its digits decide.
 * The double that `JSON.parse` made of the same digits only tells what is no int64 for sure, which leaves nothing to
 * write out that is longer than the text: `1e999999999` allocates nothing.
 */
function integerOf(number: RegExpExecArray | null, double: number): bigint | undefined {
  if (!Number.isInteger(double) || Math.abs(double) > 2 ** 63) return undefined;
  // None for an id that came again, which is refused for that.
  const [, sign, whole = '', fraction = '', exponent = 0] = number ?? [];
  const digits = whole + fraction;
  // Of 0, and of what is too small for a double, every digit has to be a 0.
  const point = double && whole.length + Number(exponent);
  if (point < digits.length && skip(zeros, digits, point) < digits.length) return undefined;
  const first = skip(zeros, digits, 0);
  const size = BigInt(digits.slice(first, point).padEnd(point - first, '0'));
  return sign ? -size : size;
}
