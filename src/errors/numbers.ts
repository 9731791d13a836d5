/**
 * The error numbers by their names: `errorNumbers.id_taken` is 40003. A number never changes meaning; its first three digits
 * are the HTTP status. The core and the client share them.
 */
export const errorNumbers = {
  body_not_json: 40001,
  plant_invalid: 40002,
  id_taken: 40003,
  plant_refused: 40004,
  media_type_unsupported: 40005,
  body_too_large: 40006,
  body_incomplete: 40007,
  token_missing: 40101,
  token_invalid: 40102,
  scope_insufficient: 40301,
  not_found: 40401,
  method_not_allowed: 40501,
  internal_error: 50000,
  storage_failed: 50001,
  verification_failed: 50002,
  body_unreadable: 50003,
  storage_rejected: 50004,
  busy: 50301,
  timed_out: 50302,
} as const;

/** The name of an error number, as `errorNumbers` has it. */
export type Problem = keyof typeof errorNumbers;

/** A number that `error` can have in the body of a refusal. */
export type ErrorNumber = (typeof errorNumbers)[Problem];

/** The name of an error number; `undefined` if this version does not know the number. */
export function problemOf(error: unknown): Problem | undefined {
  const names = Object.keys(errorNumbers) as Problem[];
  return names.find((name) => errorNumbers[name] === error);
}
