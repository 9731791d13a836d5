import type { Content } from '../http.js';
import { idIsString, memberRules, notANewPlant, Refusal, repeatedMember, tooLarge } from '../problems.js';
import { BodyError, bytesOf } from '../upload.js';
import { isObject, parseMembers, plantMembers } from './json.js';
import { isInt64, isMember, isText, type Members, type NewPlant, type Whole } from './plant.js';

/** The plant in a body. */
export function plantOf(content: Content, limit: number): NewPlant {
  const isParsed = typeof content === 'object' && 'parsed' in content;
  const plant = isParsed ? fromParsed(content.parsed) : fromText(textOf(content, limit));
  // The size of a parsed body is unknown, but it is no smaller than these texts.
  if (plant.name.length + (plant.tag?.length ?? 0) > limit) throw tooLarge(limit);
  return plant;
}

// `fatal`: otherwise an invalid byte would be stored as U+FFFD. The decoder also removes one leading BOM.
const utf8 = new TextDecoder('utf-8', { fatal: true });
// Much faster on Deno. It puts U+FFFD for an invalid byte, which a valid text may hold too: then the other one decides.
const lossy = new TextDecoder();

/** The text of a body: at most `limit` bytes of UTF-8, without a byte order mark. */
function textOf(content: string | Uint8Array, limit: number): string {
  if (typeof content === 'string') {
    // A UTF-16 unit is 1 to 3 bytes of UTF-8: encode only if the length alone cannot decide.
    const mayExceed = content.length * 3 > limit;
    if (mayExceed && new TextEncoder().encode(content).length > limit) throw tooLarge(limit);
    return content.charCodeAt(0) === 0xfeff ? content.slice(1) : content;
  }
  const bytes = bytesOf(content, limit);
  try {
    const text = lossy.decode(bytes);
    return text.includes('\ufffd') ? utf8.decode(bytes) : text;
  } catch {
    throw new Refusal('body_not_json');
  }
}

function fromText(json: string): NewPlant {
  let parsed: Members | undefined;
  try {
    parsed = parseMembers(json);
  } catch {
    throw new Refusal('body_not_json');
  }
  return validated(parsed);
}

/** The plant in a value that the host has parsed. */
function fromParsed(value: unknown): NewPlant {
  if (!isObject(value)) return validated(undefined);
  const given = plantMembers(value);
  const { id } = given;
  // An id beyond 2^53 has lost digits, and they cannot be recovered.
  if (typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER) {
    throw new BodyError(
      'body_unreadable',
      'a body parser rounded the id: mount plant-store before it, or keep rawBody',
    );
  }
  return validated({ ...given, id: Number.isInteger(id) ? BigInt(id as number) : id, repeated: [] });
}

const memberNames = Object.keys(isMember) as (keyof NewPlant)[];

function validated(given: Members | undefined): NewPlant {
  if (!given) throw notANewPlant();
  const { id, name, tag, repeated } = given;
  if (repeated.length === 0 && isInt64(id) && isText(name) && (tag === undefined || isText(tag))) {
    // An absent tag is an own property that is undefined: one on Object.prototype must not be read.
    return { id, name, tag } satisfies Whole<NewPlant>;
  }
  const wrong = memberNames
    .filter((name) => !isMember[name](given[name]))
    .map((name) => (name === 'id' && typeof id === 'string' ? idIsString : memberRules[name]));
  throw notANewPlant([...wrong, ...repeated.map(repeatedMember)]);
}
