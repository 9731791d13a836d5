// An event for each plant, in its transaction: `DATABASE_URL=postgres://… node --import tsx examples/storages/outbox.ts`.
import { createServer } from 'node:http';
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError, groupCommit } from 'plant-store';
import { toNode } from 'plant-store/node';
import { schema } from 'plant-store/postgres';

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));
await pool.query(`${schema}
  CREATE TABLE IF NOT EXISTS outbox (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event jsonb NOT NULL)`);

// One statement is one transaction: PostgreSQL stores the plant and its event, or neither.
const insert = `
  WITH created AS (
    INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
    ON CONFLICT (id) DO NOTHING RETURNING id, name, tag
  ), events AS (
    INSERT INTO outbox (event)
    SELECT jsonb_build_object('type', 'plant.created', 'id', id::text, 'name', name, 'tag', tag) FROM created
  )
  SELECT id::text FROM created`;

export const storage = groupCommit(async (plants) => {
  const ids = plants.map(({ id }) => String(id));
  const values = [ids, plants.map(({ name }) => name), plants.map(({ tag }) => tag ?? null)];
  const { rows } = await pool.query<{ id: string }>(insert, values);
  const created = new Set(rows.map(({ id }) => id));
  return ids.map((id) => (created.has(id) ? 'created' : 'taken'));
});

/** Publishes the oldest events. Deletes each event after it was published: a crash can repeat an event, but not lose it. */
export async function relay(publish: (event: unknown, seq: string) => Promise<void>): Promise<void> {
  const { rows } = await pool.query('SELECT seq::text, event FROM outbox ORDER BY outbox.seq LIMIT 100');
  for (const { seq, event } of rows) {
    await publish(event, seq);
    await pool.query('DELETE FROM outbox WHERE seq = $1', [seq]);
  }
}

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
