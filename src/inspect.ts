/** A value as the message of an error for developers shows it: what came, without its content unless it is short. */
export function inspect(value: unknown): string {
  if (typeof value === 'string') return value.length > 100 ? 'a long string' : JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return value.name ? `the function ${value.name}` : 'a function';
  if (Object(value) !== value) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name = classOf(value as object);
  return name === 'Object' ? 'an object' : `an object of class ${name}`;
}

function classOf(value: object): string {
  try {
    return value.constructor?.name || 'Object';
  } catch {
    return 'Object';
  }
}
