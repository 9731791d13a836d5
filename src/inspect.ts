/**
 * A value as the message of an error for developers shows it: what came, without its content unless it is short and no URL, which
 * may have a password. Where a token may come, use `kindOf`.
 */
export function inspect(value: unknown): string {
  if (typeof value === 'string')
    return /:\/\/|@|pass/i.test(value) || value.length > 100 ? kindOf(value) : JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return value.name ? `the function ${value.name}` : 'a function';
  if (Object(value) !== value) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name = classOf(value as object);
  return name === 'Object' ? 'an object' : `an object of class ${name}`;
}

/** A value without any of its content. */
export function kindOf(value: unknown): string {
  if (typeof value !== 'string') return inspect(value);
  if (value === '') return 'an empty string';
  if (/:\/\/|@|pass/i.test(value)) return 'a string that looks like a URL or a connection string';
  return value.length > 100 ? 'a long string' : 'a string';
}

function classOf(value: object): string {
  try {
    return value.constructor?.name || 'Object';
  } catch {
    return 'Object';
  }
}
