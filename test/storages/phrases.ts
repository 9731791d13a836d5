// Phrases that drivers and databases use, and that plant-store once compared; and what they must not do as a part of a plant.
import type { PlantStorage } from 'plant-store';
import { expect } from 'vitest';
import { context } from './context.js';

export const phrases = [
  'synchronous replication',
  'canceling wait for synchronous replication due to user request',
  'plant-store found a row with another key: 7',
  'a trigger stores the plant under another key',
  'server login has been failing, try again later',
  'query_wait_timeout',
  'Client has encountered a connection error and is not queryable',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
  'The server does not support SSL connections',
  'Connection terminated unexpectedly',
  'no such table: plants',
  'no such column: id',
  'table plants has no column named tag',
  'ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint',
  'NOT NULL constraint failed: plants.name',
  'near "INSRT": syntax error',
  'cannot start a transaction within a transaction',
  'This database connection is busy executing a query',
  'Pool is closed.',
  "INSERT command denied to user 'me'@'localhost' for table 'plants'",
  'database is locked',
  'database or disk is full',
];

/** Creates plants at once: one with a phrase as its name, one whose trigger raises the phrase, and others. */
export async function expectNoHarm(storage: PlantStorage, phrase: string): Promise<void> {
  const plants = [
    { id: 1n, name: 'Rosa' },
    { id: 2n, name: phrase },
    { id: 3n, name: phrase, tag: 'fault' },
    { id: 4n, name: 'Viola' },
  ];
  const outcomes = await Promise.allSettled(plants.map((plant) => storage.create(plant, context)));
  const created = { value: 'created' };
  const rejected = { reason: { name: 'RolledBack' } };
  expect(outcomes).toMatchObject([created, created, rejected, created]);
  await expect(storage.create({ id: 5n, name: phrase, tag: 'fault' }, context)).rejects.toMatchObject(
    rejected.reason,
  );
  expect(await storage.create({ id: 6n, name: 'Ilex' }, context)).toBe('created');
}
