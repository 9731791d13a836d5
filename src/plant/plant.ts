import * as v from 'valibot';
import { memberRules } from '../problems.js';

/** A plant as the store returns it: OpenAPI `Plant`. */
export interface Plant {
  readonly name: string;
  readonly tag?: string | undefined;
}

/** A plant as it is created: OpenAPI `NewPlant`, its int64 id exact. */
export interface NewPlant extends Plant {
  readonly id: bigint;
}

/** `T` with each member named, also an optional one: an object literal that forgets a member does not compile. */
export type Whole<T> = { readonly [Member in keyof Required<T>]: T[Member] };

/** The members of an object that may be a plant. */
export interface Members extends Readonly<Record<keyof NewPlant, unknown>> {
  /** A `bigint` if the text holds an integer that may be an int64; `undefined` for other numbers; otherwise the parsed value. */
  readonly id: unknown;
  /** Members given more than once; refused, because two readers could take different ones. */
  readonly repeated: readonly string[];
}

export const isInt64 = (id: unknown): id is bigint => typeof id === 'bigint' && BigInt.asIntN(64, id) === id;

/** PostgreSQL rejects U+0000 and lone surrogates, other databases alter them: no storage ever gets either. */
export const isText = (text: unknown): text is string =>
  typeof text === 'string' && text.isWellFormed() && !text.includes('\0');

const textSchema = (rule: string) => v.pipe(v.string(rule), v.check<string, string>(isText, rule));

/** What the object as a whole must be, or a member that is absent. */
const rule = (issue: { readonly path?: readonly [{ readonly key: unknown }, ...unknown[]] | undefined }) =>
  memberRules[issue.path?.[0].key as keyof NewPlant] ?? 'a plant must be an object';

const members = {
  id: v.pipe(
    v.union([v.bigint(), v.pipe(v.number(), v.safeInteger())], memberRules.id),
    v.transform((id) => BigInt(id)),
    v.check<bigint, string>(isInt64, memberRules.id),
  ),
  name: textSchema(memberRules.name),
  tag: v.optional(textSchema(memberRules.tag)),
} satisfies Record<keyof NewPlant, v.GenericSchema>;

const { id: _, ...plantMembersSchema } = members;

/** OpenAPI `Plant` as a valibot schema, and so a Standard Schema. */
export const plantSchema = v.object(plantMembersSchema, rule);

/**
 * OpenAPI `NewPlant` as a valibot schema, and so a Standard Schema: the id is a bigint or a safe integer going in and a
 * bigint coming out, with the messages of `plant_invalid` (400).
 *
 * @example
 * ```ts
 * import { newPlantSchema } from 'plant-store/schema';
 *
 * const result = await newPlantSchema['~standard'].validate({ id: 1, name: 'Rosa canina' });
 * console.log(result.issues ?? result.value); // { id: 1n, name: 'Rosa canina' }
 * ```
 */
export const newPlantSchema = v.object(members, rule);
