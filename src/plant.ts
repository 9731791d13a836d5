import * as v from 'valibot';
import { BodyError } from './body.js';
import { type Members, parseMembers } from './json.js';
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

const text = v.pipe(
  v.string(),
  // PostgreSQL refuses U+0000 and lone surrogates, other databases change them: so every storage is spared both.
  v.check((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value)),
);

/** The contract's NewPlant, as a schema; its id is a `bigint` already. */
export const newPlantSchema = v.object({
  id: v.pipe(
    v.bigint(),
    v.check((id) => BigInt.asIntN(64, id) === id),
  ),
  name: text,
  tag: v.optional(text),
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
    throw new Refusal('body_not_json', {
      message: json === '' ? 'The body is empty.' : 'The body is not JSON.',
    });
  }
  return checked(members);
}

/** The plant that a value describes which the host parsed: used where it is exact, for digits lost stay lost. */
export function plantFromParsed(value: unknown): NewPlant {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return checked(undefined);
  const { id, name, tag } = value as Record<string, unknown>;
  if (typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER) {
    throw new BodyError(
      'body_unreadable',
      'a body parser before plant-store rounded the id: mount plant-store before the parser, or have it keep rawBody',
    );
  }
  return checked({ id: Number.isInteger(id) ? BigInt(id as number) : id, name, tag, repeated: [] });
}

function checked(members: Members | undefined): NewPlant {
  if (!members) throw invalid('a NewPlant is a JSON object.');
  const result = v.safeParse(newPlantSchema, members);
  if (result.success && members.repeated.length === 0) {
    const { id, name, tag } = result.output;
    return tag === undefined ? { id, name } : { id, name, tag };
  }
  const wrong = new Set(result.issues?.map((issue) => String(issue.path?.[0].key)));
  const faults = [...wrong].map((member) => `${member} must be ${expected[member]}`);
  const twice = members.repeated.map((member) => `${member} must be given once`);
  throw invalid(`${[...faults, ...twice].join('; ')}.`);
}

function invalid(message: string): Refusal {
  return new Refusal('plant_invalid', { message: `Not a NewPlant: ${message}` });
}
