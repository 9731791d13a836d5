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

/** Whether each member of a NewPlant is valid: the one rule, for the 400 and for the schemas of `plant-store/schema`. */
export const isMember = {
  id: isInt64,
  name: isText,
  tag: (tag: unknown) => tag === undefined || isText(tag),
} satisfies Record<keyof NewPlant, (value: unknown) => boolean>;
