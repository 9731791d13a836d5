import { isPool, type PgClient, type PostgresPool, transactionStatusOf } from './pool.js';

let hasWarnedOfTransactions = false;

/**
 * Warns once of a pool whose clients do not show whether they come with an open transaction: as those of `pg.native` before `pg` 8.21.
 *
 * @param client one that has run a statement
 */
export function warnOfTransactions(pool: PostgresPool, client: PgClient): void {
  if (hasWarnedOfTransactions || !isPool(pool) || transactionStatusOf(client) !== undefined) return;
  hasWarnedOfTransactions = true;
  warn(
    'The clients of the pool that plant-store uses do not show whether they come with an open transaction, whose ROLLBACK would remove plants: use the JavaScript client of pg, or pg 8.21 or later.',
  );
}

const warn = (text: string) => globalThis.process?.emitWarning(text, { code: 'PLANT_STORE_POOL' });

let hasWarned = false;

/**
 * Warns once of a pool that never ends a login or a statement that hangs: during an outage each attempt would hold another
 * of its places, and leave another process of the server waiting for a lock. And of one that ends a statement only when its
 * creates have timed out: they are then unknown, where the server would have said that it stored nothing.
 *
 * @param statementTimeout as the server shows it, because a role may have it too
 * @param timeoutMs how long a create may take
 */
export function warnOfTimeouts(pool: PostgresPool, statementTimeout: unknown, timeoutMs: number): void {
  if (hasWarned || !isPool(pool) || !pool.options) return;
  const missing = pool.options.connectionTimeoutMillis ? [] : ['connectionTimeoutMillis'];
  if (statementTimeout === '0') missing.push('statement_timeout');
  const isTooLong = millisecondsOf(statementTimeout) >= timeoutMs;
  hasWarned = missing.length > 0 || isTooLong;
  if (!hasWarned) return;
  const text =
    missing.length > 0
      ? `Give the pg Pool of plant-store a ${missing.join(' and a ')}: otherwise, calls that hang fill the pool and the server.`
      : `Set the statement_timeout of plant-store's pg Pool, which is ${statementTimeout}, below the storage's timeoutMs of ${timeoutMs} ms: otherwise it is unknown what a slow statement has stored.`;
  warn(text);
}

/** The units in which PostgreSQL shows a time, in milliseconds. */
const units: { readonly [unit: string]: number } = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };

/** A time as PostgreSQL shows it, `10s` or `500ms`; NaN for any other text. */
function millisecondsOf(setting: unknown): number {
  const [, count, unit = ''] = /^(\d+)([a-z]+)$/.exec(String(setting)) ?? [];
  return Number(count) * (units[unit] ?? Number.NaN);
}
