/** A property of anything thrown, of any type; `undefined` if its getter throws, or if every object has it. */
export function propertyOf(thrown: unknown, name: string): unknown {
  try {
    const value = (thrown as Record<string, unknown> | null | undefined)?.[name];
    // A legacy library may have added it to `Object.prototype`.
    return value === (Object.prototype as unknown as Record<string, unknown>)[name] ? undefined : value;
  } catch {
    return undefined;
  }
}
