import * as v from 'valibot';
import { isMember, type NewPlant, type Plant } from './plant/plant.js';
import { memberRules } from './problems.js';

const plantMembers = {
  name: v.custom<string>(isMember.name, memberRules.name),
  tag: v.optional(v.custom<string>(isMember.tag, memberRules.tag)),
} satisfies Record<keyof Plant, v.GenericSchema>;

/** A message for an object that lacks a member, or is none. */
const messageOf = ({
  path,
}: {
  readonly path?: readonly [{ readonly key: unknown }, ...unknown[]] | undefined;
}) => memberRules[path?.[0].key as keyof typeof memberRules] ?? 'a plant must be an object';

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
      v.custom<bigint | number>((id) => isMember.id(id) || Number.isSafeInteger(id), memberRules.id),
      v.transform((id) => BigInt(id)),
    ),
    ...plantMembers,
  } satisfies Record<keyof NewPlant, v.GenericSchema>,
  messageOf,
);
