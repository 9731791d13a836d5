// A storage of your own, and the cases that check it: `node --import tsx examples/own-storage.ts`.
// Here two tenants can use the same id. The built-in storages keep one table for all callers.
import { test } from 'node:test';
import Database from 'libsql';
import { PlantRefused, type PlantStorage } from 'plant-store';
import { storageCases } from 'plant-store/testing';

interface Caller {
  readonly tenant: string;
}

function tenantStorage(database: Database.Database): PlantStorage<Caller> {
  // The id is sent as text, because drivers round. No SELECT comes first: two creates could both find the id free.
  const insert = database.prepare(
    'INSERT INTO plants VALUES (?, CAST(? AS INTEGER), ?, ?) ON CONFLICT (tenant, id) DO NOTHING',
  );
  return {
    async create({ id, name, tag }, { caller }) {
      if (name.length > 200) throw new PlantRefused('name is longer than 200 characters');
      const { changes } = insert.run(caller.tenant, String(id), name, tag ?? null);
      return changes === 1 ? 'created' : 'taken';
    },
  };
}

function open() {
  const database = new Database(':memory:');
  database.exec(
    'CREATE TABLE plants (tenant TEXT, id INTEGER, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (tenant, id))',
  );
  const select = database.prepare("SELECT id, name, tag FROM plants WHERE tenant = 'garden' AND id = ?");
  const peek = (id: bigint) => {
    const row = select.safeIntegers(true).get(id) as
      | { id: bigint; name: string; tag: string | null }
      | undefined;
    return row && { id: row.id, name: row.name, tag: row.tag ?? undefined };
  };
  return {
    storage: tenantStorage(database),
    caller: { tenant: 'garden' },
    peek,
    close: () => void database.close(),
  };
}

for (const { id, name, run } of storageCases(open)) test(`${id}: ${name}`, run);
