import * as v from 'valibot';
import { BodyError } from './body.js';
import { isObject, type Members, parseMembers } from './json.js';
import { Refusal } from './problems.js';

/** A plant as it is answered: OpenAPI `Plant`. */
export interface Plant {
  readonly name: string;
  readonly tag?: string | undefined;
}

/** A plant as it is created: OpenAPI `NewPlant`, its int64 id exact. */
export interface NewPlant extends Plant {
  readonly id: bigint;
}

// PostgreSQL refuses U+0000 and lone surrogates, other databases change them: so every storage is spared both.
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/[\0\p{Surrogate}]/u.test(value);
}

/** The contract's NewPlant, as a schema; its id is a `bigint` already, and an absent tag `undefined`. */
export const newPlantSchema = v.object({
  id: v.custom<bigint>((id) => typeof id === 'bigint' && BigInt.asIntN(64, id) === id),
  name: v.custom<string>(isText),
  tag: v.custom<string | undefined>((tag) => tag === undefined || isText(tag)),
});

const textExpected = 'a string without U+0000 and lone surrogates';
const expected: Record<string, string> = {
  id: 'an integer from -9223372036854775808 to 9223372036854775807',
  name: textExpected,
  tag: `${textExpected}, or absent`,
};

/** The plant that a JSON text describes. */
export function plantFromText(json: string): NewPlant {
  let members: Members | undefined;
  try {
    members = parseMembers(json);
  } catch {
    throw new Refusal('body_not_json');
  }
  return checked(members);
}

/** The plant that a value describes which the host parsed: used where it is exact, for digits lost stay lost. */
export function plantFromParsed(value: unknown): NewPlant {
  if (!isObject(value)) return checked(undefined);
  const { id, name, tag } = value;
  if (typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER) {
    throw new BodyError(
      'body_unreadable',
      'a body parser rounded the id: mount plant-store above it, or keep rawBody',
    );
  }
  return checked({ id: Number.isInteger(id) ? BigInt(id as number) : id, name, tag, repeated: [] });
}

function checked(members: Members | undefined): NewPlant {
  if (!members) throw invalid('a NewPlant is a JSON object.');
  const { output, issues } = v.safeParse(newPlantSchema, members);
  if (!issues && members.repeated.length === 0) {
    const { id, name, tag } = output;
    return tag === undefined ? { id, name } : { id, name, tag };
  }
  const wrong =
    issues?.map(({ path }) => `${path?.[0].key} must be ${expected[String(path?.[0].key)]}`) ?? [];
  const twice = members.repeated.map((name) => `${name} must be given once`);
  throw invalid(`${[...wrong, ...twice].join('; ')}.`);
}

function invalid(message: string): Refusal {
  return new Refusal('plant_invalid', { message: `Not a NewPlant: ${message}` });
}
