import { idIsString, memberRules, notANewPlant, repeatedMember } from '../errors/problems.js';

/** A plant as the store returns it: OpenAPI `Plant`. */
export interface Plant {
  readonly name: string;
  readonly tag?: string | undefined;
}

/** A plant to create: OpenAPI `NewPlant`, with its exact int64 id. */
export interface NewPlant extends Plant {
  readonly id: bigint;
}

/** `T` with each member named, also an optional one: an object literal that forgets a member does not compile. */
export type Whole<T> = { readonly [Member in keyof Required<T>]: T[Member] };

/**
 * The members of an object that may be a plant. `id` is a `bigint` if the text holds an integer that may be an int64;
 * `undefined` for other numbers; otherwise the parsed value.
 */
export interface Members extends Readonly<Record<keyof NewPlant, unknown>> {
  /** Members given more than once; refused, because two readers could take different ones. */
  readonly repeated: readonly string[];
}

/** PostgreSQL rejects U+0000 and lone surrogates, other databases alter them: no storage ever gets either. */
export const isText = (text: unknown): text is string =>
  typeof text === 'string' && text.isWellFormed() && !text.includes('\0');

/** Whether each member of a NewPlant is valid: the one rule, for the 400 and for the schemas of `plant-store/schema`. */
export const isMember = {
  id: (id: unknown): id is bigint => typeof id === 'bigint' && BigInt.asIntN(64, id) === id,
  name: isText,
  tag: (tag: unknown): tag is string | undefined => tag === undefined || isText(tag),
} satisfies Record<keyof NewPlant, (value: unknown) => boolean>;

// An array, not an object: V8 interns every key that an object is asked for.
export const memberNames = Object.keys(isMember) as (keyof NewPlant)[];

/** @throws {Refusal} that names every wrong member; `undefined` is JSON that is not an object */
export function toNewPlant(given: Members | undefined): NewPlant {
  if (!given) throw notANewPlant();
  const { id, name, tag, repeated } = given;
  if (isMember.id(id) && isMember.name(name) && isMember.tag(tag) && repeated.length === 0) {
    // An absent tag is an own property that is undefined: one on Object.prototype must not be read.
    return { id, name, tag } satisfies Whole<NewPlant>;
  }
  const wrong = memberNames.filter((member) => !isMember[member](given[member]));
  const ruleOf = (member: keyof NewPlant) =>
    member === 'id' && typeof id === 'string' ? idIsString : memberRules[member];
  throw notANewPlant([...wrong.map(ruleOf), ...repeated.map(repeatedMember)]);
}

/** Writes a plant as a 200 has it. Identical plants have the same text. */
export function toJson({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag: tag ?? undefined } satisfies Whole<Plant>);
}
