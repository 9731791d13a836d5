// What a storage of your own throws, by what the database is known to have stored: here through `pg`.
import type pg from 'pg';
import {
  type CreateMany,
  groupCommit,
  PlantRefused,
  type PlantStorage,
  RolledBack,
  StorageBusy,
} from 'plant-store';

const insert = 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING';

export function ownStorage(pool: pg.Pool): PlantStorage {
  const createMany: CreateMany<unknown> = async (plants, _contexts, call) => {
    call.sent = false;
    // Busy: nothing was sent.
    const client = await pool.connect().catch((cause) => {
      throw new StorageBusy('no connection', { cause });
    });
    call.sent = true;
    try {
      await client.query('BEGIN');
      const counts: (number | null)[] = [];
      for (const { id, name, tag } of plants)
        counts.push((await client.query(insert, [String(id), name, tag])).rowCount);
      await client.query('COMMIT');
      client.release();
      return counts.map((count) => (count === 1 ? 'created' : 'taken'));
    } catch (error) {
      // With the connection, whatever it had open ends.
      client.release(true);
      throw meaningOf(error, plants.length);
    }
  };
  return groupCommit(createMany);
}

function meaningOf(error: unknown, plants: number): unknown {
  const { code, constraint } = error as pg.DatabaseError;
  // Refused: the database rejected the plant, which was alone, and the client may know why.
  if (constraint === 'plants_name_key' && plants === 1)
    return new PlantRefused('a plant of this name exists');
  // Rejected: a plant breaks a constraint, and is looked for in parts of the batch.
  if (code?.startsWith('23')) return new RolledBack('rejected', error);
  // Rolled back: a deadlock or a conflict, whose transaction can succeed if it is sent again.
  if (code === '40P01' || code === '40001') return new RolledBack('conflict', error);
  // Unknown: the connection broke, and the COMMIT may have arrived.
  return error;
}
