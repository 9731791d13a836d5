import type { Json } from '../http.js';
import { idIsString, memberRules, notANewPlant, Refusal, repeatedMember } from '../problems.js';
import { isObject, parseMembers, plantMembers } from './json.js';
import { isInt64, isMember, isText, type Members, type NewPlant, type Whole } from './plant.js';

/** The plant in a body. */
export function plantOf(json: Json): NewPlant {
  return validated(typeof json === 'string' ? fromText(json) : fromParsed(json.parsed));
}

function fromText(json: string): Members | undefined {
  try {
    return parseMembers(json);
  } catch {
    throw new Refusal('body_not_json');
  }
}

/** The members of a value that the host has parsed. */
function fromParsed(value: unknown): Members | undefined {
  if (!isObject(value)) return undefined;
  const given = plantMembers(value);
  const { id } = given;
  // An id beyond 2^53 has lost digits, and they cannot be recovered.
  if (typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER) {
    throw new RangeError('a body parser rounded the id: mount plant-store before it, or keep rawBody');
  }
  return { ...given, id: Number.isInteger(id) ? BigInt(id as number) : id, repeated: [] };
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
