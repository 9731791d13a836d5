import { withCauses } from '../../../src/for-storages.js';

/** The members of an error that a database, a driver or a library sets. Each may be anything. */
export interface ErrorMembers {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly extendedCode?: unknown;
  readonly errno?: unknown;
  readonly errcode?: unknown;
  readonly sqlState?: unknown;
  readonly severity?: unknown;
  readonly where?: unknown;
  readonly status?: unknown;
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
