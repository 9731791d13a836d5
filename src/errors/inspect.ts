/**
 * A value as the message of an error for developers shows it: what came, without its content unless it is short and no URL, which
 * may have a password. Where a token may come, use `kindOf`.
 */
export function inspect(value: unknown): string {
  if (typeof value === 'string')
    return isSecret(value) || value.length > 100 ? kindOf(value) : JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return Object(value) === value ? kindOf(value) : String(value);
}

/** A value without any of its content. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value === '') return 'an empty string';
  if (typeof value === 'string' && isSecret(value))
    return 'a string that looks like a URL or a connection string';
  if (typeof value === 'function' && value.name) return `the function ${value.name}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Array.isArray(value)) return 'an array';
  const name = classOf(value);
  return name === 'Object' ? 'an object' : `an object of class ${name}`;
}

/** Whether a text looks like one that may have a password. */
const isSecret = (text: string) => /:\/\/|@|pass/i.test(text);

/** The name of an object's class, as its program has written it: not the member `name`, nor one of the object's own. */
export function classOf(value: object): string {
  try {
    const of = Object.getPrototypeOf(value).constructor;
    const name: unknown = Object.getOwnPropertyDescriptor(of, 'name')?.value;
    return typeof name === 'string' && /^[\w$]{1,63}$/.test(name) ? name : 'Object';
  } catch {
    // No prototype, or a Proxy that is revoked.
    return 'Object';
  }
}
