// A storage of your own, proven by the cases that prove ours: `node --import tsx examples/own-storage.ts`.
// Each tenant has ids of its own here; the built-in storages keep one table for all callers.
import { after, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { PlantRefused, type PlantStorage } from 'plant-store';
import { storageCases } from 'plant-store/testing';

interface Caller {
  readonly tenant: string;
}

function tenantStorage(database: PGlite): PlantStorage<Caller> {
  return {
    async create({ id, name, tag }, { caller }) {
      if (name.length > 200) throw new PlantRefused('name is longer than 200 characters');
      // The id as text, for drivers round; and no SELECT before it, for two could find the id free.
      const { affectedRows } = await database.query(
        'INSERT INTO plants VALUES ($1, $2::text::bigint, $3, $4) ON CONFLICT DO NOTHING',
        [caller.tenant, String(id), name, tag],
      );
      return affectedRows === 1 ? 'created' : 'taken';
    },
  };
}

const database = await PGlite.create();
await database.exec(
  'CREATE TABLE plants (tenant text, id bigint, name text NOT NULL, tag text, PRIMARY KEY (tenant, id))',
);
after(() => database.close());

async function open() {
  await database.exec(
    "DELETE FROM plants; INSERT INTO plants SELECT 'other', i, 'not ours' FROM generate_series(-9, 999) i",
  );
  const peek = async (id: bigint) => {
    const select = "SELECT id::text, name, tag FROM plants WHERE tenant = 'garden' AND id = $1";
    const { rows } = await database.query<{ id: string; name: string; tag: string | null }>(select, [
      String(id),
    ]);
    return rows[0] && { id: BigInt(rows[0].id), name: rows[0].name, tag: rows[0].tag ?? undefined };
  };
  return { storage: tenantStorage(database), caller: { tenant: 'garden' }, peek };
}

for (const { id, name, run } of storageCases(open)) test(`${id}: ${name}`, run);
