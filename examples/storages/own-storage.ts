// A custom storage, and the cases that test it: `node --import tsx examples/storages/own-storage.ts`.
// Here two tenants can use the same id, as with the option `namespace` of the built-in storages.
import { test } from 'node:test';
import Database from 'libsql';
import { type CreateMany, groupCommit, PlantRefused, type PlantStorage } from 'plant-store';
import { storageCases } from 'plant-store/testing';

interface Caller {
  readonly tenant: string;
}

function tenantStorage(database: Database.Database): PlantStorage<Caller> {
  // The id is sent as text, because drivers round. No SELECT comes first: two creates could both find the id free.
  const insert = database.prepare(
    'INSERT INTO plants VALUES (?, CAST(? AS INTEGER), ?, ?) ON CONFLICT (tenant, id) DO NOTHING',
  );
  const insertAll: CreateMany<Caller> = (plants, contexts) =>
    plants.map(({ id, name, tag }, i) => {
      if (name.length > 200) return new PlantRefused('name is longer than 200 characters');
      const { changes } = insert.run(contexts[i]!.caller.tenant, String(id), name, tag ?? null);
      return changes === 1 ? 'created' : 'taken';
    });
  return groupCommit(database.transaction(insertAll), {
    // Two tenants' ids would collide in a transaction otherwise.
    namespace: ({ caller }) => caller.tenant,
    // So that the creates of one iteration of the event loop share a transaction.
    blocksEventLoop: true,
  });
}

function open() {
  const database = new Database(':memory:');
  database.exec(
    'CREATE TABLE plants (tenant TEXT, id INTEGER, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (tenant, id))',
  );
  const select = database.prepare('SELECT id, name, tag FROM plants WHERE tenant = ? AND id = ?');
  const peekAs = (tenant: string) => (id: bigint) => {
    const row = select.safeIntegers(true).get(tenant, id) as
      | { id: bigint; name: string; tag: string | null }
      | undefined;
    return row && { id: row.id, name: row.name, tag: row.tag ?? undefined };
  };
  return {
    storage: tenantStorage(database),
    caller: { tenant: 'garden' },
    peek: peekAs('garden'),
    other: { caller: { tenant: 'park' }, peek: peekAs('park') },
    close: () => void database.close(),
  };
}

for (const { id, name, run } of storageCases(open)) test(`${id}: ${name}`, run);
