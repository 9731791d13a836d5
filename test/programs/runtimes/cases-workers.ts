/** Runs the storage cases and others over HTTP, on D1 and on a Durable Object of the Worker whose file is the argument. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
// @ts-expect-error: installed only for this test
import { Miniflare } from 'miniflare';
import type { NewPlant } from 'plant-store';
import { schema, schemaOf } from 'plant-store/sqlite';
import { plantOf } from '../../support/tables.js';
import { type Case, peerCases, report } from './cases.js';

const [, , file, where] = process.argv;
const worker = new Miniflare({
  modules: true,
  // As text, because workerd rejects a path outside the folder in which it starts.
  script: await readFile(file!, 'utf8'),
  compatibilityDate: '2025-01-01',
  port: 0,
  d1Databases: { DB: 'plants' },
  durableObjects: { GARDEN: { className: 'Garden', useSQLite: true } },
  bindings: { TOKEN: 'secret' },
});
// Else workerd would outlive this process.
process.on('SIGTERM', () => worker.dispose().then(() => process.exit()));
const base = new URL(`/${where}/`, await worker.ready);

async function ask(what: string, body: unknown, token = 'secret') {
  const response = await fetch(new URL(what, base), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} returned ${response.status} ${text}`);
  }
}

const sql = (statement: string): Promise<Record<string, unknown>[]> => ask('sql', statement);

async function create({ id, name, tag }: NewPlant, what = 'plants', token?: string) {
  const answer = await ask(what, `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`, token);
  if (answer.error === undefined) return 'created';
  if (answer.error === 40003) return 'taken';
  throw new Error(JSON.stringify(answer));
}

async function open(statements: readonly string[] = []) {
  // What the last case has left: a table goes with its triggers and its index.
  const drops = ['log', 'texts', 'counter', 'tenants', 'plants'].map(
    (table) => `DROP TABLE IF EXISTS ${table}`,
  );
  for (const statement of [...drops, schema, ...statements]) await sql(statement);
  const peek = async (id: bigint) =>
    plantOf((await sql(`SELECT CAST(id AS TEXT) AS id, name, tag FROM plants WHERE id = ${id}`))[0]);
  return {
    storage: { create: (plant: NewPlant) => create(plant) as Promise<'created' | 'taken'> },
    caller: 'anyone',
    peek,
    makeNamesUnique: () => sql('CREATE UNIQUE INDEX names ON plants (name)'),
  };
}

// Neither has TEMP triggers.
const openPeer = async (statements: readonly string[]) =>
  statements.join().includes('TEMP') ? undefined : open(statements);

const ids = async () =>
  (await sql('SELECT CAST(id AS TEXT) AS text FROM plants ORDER BY id')).map(({ text }) => Number(text));

const both: Record<string, () => Promise<unknown>> = {
  async 'a race of 64 over HTTP: one is created'() {
    await open();
    const plants = Array.from({ length: 64 }, (_, i) => ({ id: 1n, name: `Rosa ${i}` }));
    const outcomes = await Promise.all(plants.map((plant) => create(plant)));
    assert.equal(outcomes.filter((outcome) => outcome === 'created').length, 1);
    assert.equal(outcomes.filter((outcome) => outcome === 'taken').length, 63);
    const { name } = plants[outcomes.indexOf('created')]!;
    assert.deepEqual(await sql('SELECT name FROM plants'), [{ name }]);
  },
  async '64 creates of one request are all stored, and told so'() {
    await open();
    const many = Array.from({ length: 64 }, (_, id) => id);
    const outcomes = await ask('creates', [...many, 0]);
    assert.deepEqual(outcomes, [...many.map(() => 'created'), 'taken']);
    assert.deepEqual(await ids(), many);
  },
  async 'two tenants have an id each'() {
    await open([schemaOf({ table: 'tenants', namespace: { tenant: () => '' } })]);
    const plant = { id: 2n ** 63n - 1n, name: 'Rosa' };
    const outcomes = [];
    for (const tenant of ['garden', 'park', 'park']) outcomes.push(await create(plant, 'tenants', tenant));
    assert.deepEqual(outcomes, ['created', 'created', 'taken']);
  },
  async 'check passes, and leaves nothing'() {
    await open();
    assert.deepEqual(await ask('check', ''), {});
    assert.deepEqual(await ids(), []);
  },
  async 'check names what is wrong'() {
    await open();
    await sql('DROP TABLE plants');
    assert.match((await ask('check', '')).message, /it does not exist\. .*call storage\.createTable\(\)/);
    await sql('CREATE TABLE plants (id INTEGER, name TEXT, tag TEXT)');
    assert.match((await ask('check', '')).message, /it needs a unique index of exactly \("id"\)/);
  },
  async 'a plant that a trigger drops is not created, and the trigger is named'() {
    await open([
      'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN DELETE FROM plants WHERE id = new.id; END',
    ]);
    assert.deepEqual(await ask('creates', [1, 2, 3]), ['RolledBack', 'RolledBack', 'RolledBack']);
    assert.match((await ask('check', '')).message, /one of its triggers .*: peer$/);
    assert.deepEqual(await ids(), []);
  },
  // The lines that rest on it: `: (SQLITE_[A-Z]+)` of adapters/storages/_sqlite/codes.ts, `resultOfWorkers('D1_ERROR')` of handles.ts.
  async "the messages of errors end with the result of SQLite, and D1's begin with D1_ERROR"() {
    await open(['CREATE TABLE log (n INTEGER CHECK (n > 0) UNIQUE)']);
    const ends = {
      'SELECT FROM': 'SQLITE_ERROR',
      'SELECT * FROM nothing': 'SQLITE_ERROR',
      'INSERT INTO log VALUES (0)': 'SQLITE_CONSTRAINT',
      'INSERT INTO log VALUES (1), (1)': 'SQLITE_CONSTRAINT',
      "SELECT 1 LIMIT 'roll back'": 'SQLITE_MISMATCH',
      'SELECT zeroblob(9007199254740991)': 'SQLITE_TOOBIG',
      'SELECT encoding FROM pragma_encoding': 'SQLITE_AUTH',
    };
    for (const [statement, result] of Object.entries(ends)) {
      const { message } = await ask('message', statement);
      const beginning = where === 'object' ? '' : 'D1_ERROR.*';
      assert.match(
        String(message),
        new RegExp(`^${beginning}.*: ${result}( \\(extended: \\w+\\))?$`),
        statement,
      );
    }
  },
};

/** Of a Durable Object, which has an alarm and transactions of its own. */
const ofObject: Record<string, () => Promise<unknown>> = {
  async 'a transaction of the object that rolls back takes no created plant with it'() {
    await open();
    const sent = [1, 2, 3];
    // Creates of other requests, too.
    const [outcomes, ...others] = await Promise.all([
      ask('rollback', sent),
      ...[11, 12, 13].map((id) => create({ id: BigInt(id), name: 'Rosa' })),
    ]);
    assert.deepEqual([...outcomes, ...others], Array(6).fill('created'));
    assert.deepEqual(await ids(), [...sent, 11, 12, 13]);
  },
  async 'an alarm of the object writes beside creates'() {
    await open();
    const sent = Array.from({ length: 32 }, (_, id) => id);
    const { outcomes, alarms } = await ask('alarm', sent);
    assert.deepEqual(
      outcomes,
      sent.map(() => 'created'),
    );
    assert.equal(alarms, 1);
    assert.deepEqual(await ids(), [-2, ...sent]);
  },
};

const others: Case[] = Object.entries({ ...both, ...(where === 'object' && ofObject) }).map(([id, run]) => ({
  id,
  run: async () => void (await run()),
}));
await report(open, [...peerCases(openPeer, 'Error'), ...others]);
