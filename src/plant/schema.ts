import * as v from 'valibot';
import { memberRules } from '../errors/problems.js';
import { isMember, isText, type NewPlant, type Plant } from './plant.js';

const plantMembers = {
  name: v.custom<string>(isMember.name, memberRules.name),
  tag: v.optional(v.custom<string>(isMember.tag, memberRules.tag)),
} satisfies Record<keyof Plant, v.GenericSchema>;

/** A message for an object that lacks a member, or is none. */
const messageOf = ({ path }: { readonly path?: readonly { readonly key: unknown }[] | undefined }) =>
  memberRules[path?.[0]?.key as keyof typeof memberRules] ?? 'a plant must be an object';

/**
 * OpenAPI `Plant` as a valibot schema, and so a Standard Schema, with the messages of `plant_invalid` (400). Members
 * other than `name` and `tag` are dropped.
 *
 * @see {@link https://standardschema.dev}
 *
 * @example
 * ```ts
 * import { plantSchema } from 'plant-store/schema';
 *
 * const response = await fetch('https://example.com/api/plants', { method: 'POST' });
 * const result = await plantSchema['~standard'].validate(await response.json());
 * if (!result.issues) console.log(result.value.name);
 * ```
 */
export const plantSchema = v.object(plantMembers, messageOf);

/** Whether a value is an id: a bigint, a safe integer or decimal digits. */
function isId(value: unknown): boolean {
  const isDigits = typeof value === 'string' && /^-?\d{1,19}$/.test(value);
  return isMember.id(isDigits || Number.isSafeInteger(value) ? BigInt(value as string | number) : value);
}

const toBigint = <Id extends bigint | number | string>() => v.transform((id: Id) => BigInt(id));

/** The sentences for people who fill in a form or type a URL. */
const sentences = {
  id: 'Enter an integer from -9223372036854775808 to 9223372036854775807.',
  name: 'Enter a name.',
  tag: 'Enter a tag, or leave it empty.',
} satisfies Record<keyof NewPlant, string>;

/**
 * The id of a plant as a valibot schema, and so a Standard Schema: a bigint, a safe integer or decimal digits going in,
 * such as a parameter of a path, and a bigint coming out.
 *
 * @example
 * ```ts
 * import { idSchema } from 'plant-store/schema';
 *
 * const id = await idSchema['~standard'].validate('9007199254740993');
 * console.log(id.issues ?? id.value); // 9007199254740993n
 * ```
 */
export const idSchema = v.pipe(v.custom<bigint | number | string>(isId, sentences.id), toBigint());

/**
 * OpenAPI `NewPlant` as a valibot schema, and so a Standard Schema, with the messages of `plant_invalid` (400). The id is
 * a bigint or a safe integer going in and a bigint coming out: an integer beyond 2^53 would have been rounded already.
 *
 * @see {@link https://standardschema.dev}
 *
 * @example
 * ```ts
 * import { newPlantSchema } from 'plant-store/schema';
 *
 * const result = await newPlantSchema['~standard'].validate({ id: 1, name: 'Rosa canina' });
 * console.log(result.issues ?? result.value.id); // 1n
 * ```
 */
export const newPlantSchema = v.object(
  {
    id: v.pipe(
      v.custom<bigint | number>((id) => typeof id !== 'string' && isId(id), memberRules.id),
      toBigint(),
    ),
    ...plantMembers,
  } satisfies Record<keyof NewPlant, v.GenericSchema>,
  messageOf,
);

/** A text of a form that a plant can have. */
const formText = (member: 'name' | 'tag') =>
  v.pipe(
    v.string(sentences[member]),
    v.check<string, string>(isText, `The ${member} has a character that cannot be stored.`),
  );

const emptyToUndefined = v.transform((text: string) => text || undefined);

/**
 * A `NewPlant` from the texts of a form, as a valibot schema, and so a Standard Schema, with sentences for people. White
 * space around the id is dropped, and an empty tag is no tag.
 *
 * @example
 * ```ts
 * import { newPlantFormSchema } from 'plant-store/schema';
 *
 * const form = new FormData();
 * form.set('id', '9007199254740993');
 * form.set('name', 'Rosa canina');
 * form.set('tag', '');
 * const result = await newPlantFormSchema['~standard'].validate(Object.fromEntries(form));
 * console.log(result.issues ?? result.value.id); // 9007199254740993n
 * ```
 */
export const newPlantFormSchema = v.object(
  {
    id: v.pipe(v.string(sentences.id), v.trim(), v.check<string, string>(isId, sentences.id), toBigint()),
    name: formText('name'),
    tag: v.optional(v.pipe(formText('tag'), emptyToUndefined)),
  } satisfies Record<keyof NewPlant, v.GenericSchema>,
  ({ path }) => sentences[path?.[0].key as keyof NewPlant] ?? 'a form must be an object',
);

/** An issue of a schema, as Standard Schema has it. */
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: unknown })[] | undefined;
}

/**
 * Returns the issues of a plant by its fields, the first sentence of each, to show beside the fields of a form.
 *
 * @example
 * ```ts
 * import { issuesByField, newPlantFormSchema } from 'plant-store/schema';
 *
 * const result = await newPlantFormSchema['~standard'].validate({ id: 'x', name: 'Rosa canina' });
 * if (result.issues) console.log(issuesByField(result.issues).id); // Enter an integer from …
 * ```
 */
export function issuesByField(issues: readonly Issue[]): { [Field in keyof NewPlant]?: string } {
  const byField: { -readonly [Field in keyof NewPlant]?: string } = {};
  for (const { message, path } of issues) {
    const [first] = path ?? [];
    const field = (Object(first) === first ? (first as { key: unknown }).key : first) as keyof NewPlant;
    if (Object.hasOwn(sentences, field)) byField[field] ??= message;
  }
  return byField;
}
