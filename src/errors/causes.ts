import { propertyOf } from './property-of.js';

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
export function withCauses(error: unknown): readonly object[] {
  const found: object[] = [];
  const add = (candidate: unknown) => {
    const isNew = typeof candidate === 'object' && candidate !== null && !found.includes(candidate);
    if (isNew && found.length < mostErrors) found.push(candidate);
  };
  add(error);
  // The array grows while it is read.
  for (const each of found) {
    for (const member of wrapping) add(propertyOf(each, member));
  }
  return found;
}
