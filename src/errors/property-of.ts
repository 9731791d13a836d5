/**
 * The value of a member; `undefined` if every object has it: a legacy library may have added it to `Object.prototype`. The caller reads it
 * by its name: one function that reads by whatever name it is given took an eighth of a request.
 */
export function unlessInherited<T>(value: T, name: string): T | undefined {
  const { [name]: inherited } = Object.prototype as unknown as Record<string, unknown>;
  return value !== undefined && value === inherited ? undefined : value;
}

/** A property of anything, of any type; `undefined` if its getter throws, or if every object has it. */
export function propertyOf(thing: unknown, name: string): unknown {
  try {
    return unlessInherited((thing as Record<string, unknown>)[name], name);
  } catch {
    return undefined;
  }
}
