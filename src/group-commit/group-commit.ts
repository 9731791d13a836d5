import type { PlantStorage } from '../storage.js';
import type { CreateMany } from './create-many.js';
import type { GroupCommitOptions } from './options.js';
import { Queue } from './queue.js';

/**
 * Creates a storage that writes in batches: all creates of one event-loop turn, then all that arrive while a batch is in
 * flight. At most one batch is in flight. A create after a lone one does not wait for the end of its turn.
 *
 * Each create settles within `timeoutMs`. On timeout it rejects with `StorageBusy` if it was definitely not stored,
 * otherwise with an error (outcome unknown). If a whole batch times out, the circuit opens: creates fail fast with
 * `StorageBusy`, apart from one probe at a time. A create that waited for another batch is not sent if its client has
 * disconnected meanwhile.
 *
 * A rejected batch (`RolledBack`) is split by client, and each client's part is bisected in turns with everybody else's
 * batches. Clients are distinguished by their `Authorization` header: those that share one token wait for each other.
 *
 * @throws {TypeError} if an option is unknown or invalid
 *
 * @example
 * ```ts
 * import pg from 'pg';
 *
 * const pool = new pg.Pool();
 * const insert = `INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
 *   ON CONFLICT (id) DO NOTHING RETURNING id::text`;
 * const storage = groupCommit(async (plants) => {
 *   const ids = plants.map(({ id }) => String(id));
 *   const names = plants.map(({ name }) => name);
 *   const tags = plants.map(({ tag }) => tag ?? null);
 *   const { rows } = await pool.query<{ id: string }>(insert, [ids, names, tags]);
 *   const created = new Set(rows.map((row) => row.id));
 *   return ids.map((id) => (created.has(id) ? 'created' : 'taken'));
 * });
 * ```
 */
export function groupCommit<Caller = unknown>(
  createMany: CreateMany<Caller>,
  options: GroupCommitOptions<Caller> = {},
): PlantStorage<Caller> {
  const queue = new Queue(createMany, options);
  return { create: (plant, context) => queue.create(plant, context) };
}
