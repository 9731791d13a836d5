/** The members of an error that a database, a driver or a library sets. Each may be anything. */
export interface ErrorMembers {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly errcode?: unknown;
  readonly sqlState?: unknown;
  readonly severity?: unknown;
  readonly where?: unknown;
  readonly status?: unknown;
}

/**
 * Where libraries keep the error that they wrap: `cause` (Drizzle, slonik, MikroORM), `original` and `parent` (Sequelize),
 * `driverError` (TypeORM), `meta` and in it `driverAdapterError` (Prisma).
 */
const wrapping = ['cause', 'original', 'parent', 'driverError', 'meta', 'driverAdapterError'] as const;

/** An error that wraps more than this is no error of a library, and may have no end. */
const mostErrors = 16;

/**
 * Returns an error and what it wraps: itself first, then what it wraps, then what that wraps. Each object comes once, because
 * some wrap each other.
 */
export function withCauses(error: unknown): readonly ErrorMembers[] {
  const found: ErrorMembers[] = [];
  const add = (candidate: unknown) => {
    const isNew = typeof candidate === 'object' && candidate !== null && !found.includes(candidate);
    if (isNew && found.length < mostErrors) found.push(candidate);
  };
  add(error);
  // The array grows while it is read.
  for (const each of found) {
    for (const member of wrapping) add((each as Record<string, unknown>)[member]);
  }
  return found;
}

/**
 * Returns the first error, of this one and of what it wraps, of which `read` makes something: the one that the database sent.
 * A wrapper's own code, such as Prisma's `P2010`, is none of the database, and so `read` makes nothing of it.
 */
export function firstIn<T>(error: unknown, read: (candidate: ErrorMembers) => T | undefined): T | undefined {
  for (const candidate of withCauses(error)) {
    const made = read(candidate);
    if (made !== undefined) return made;
  }
  return undefined;
}
