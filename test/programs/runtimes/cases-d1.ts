/** Runs the storage cases over HTTP on the Worker whose file is the argument, and reads its D1 directly. */
import { readFile } from 'node:fs/promises';
// @ts-expect-error: installed only for this test
import { Miniflare } from 'miniflare';
import type { NewPlant } from 'plant-store';
import { schema } from 'plant-store/sqlite';
import { plantOf } from '../../support/tables.js';
import { peerCases, report } from './cases.js';

const [, , file] = process.argv;
const worker = new Miniflare({
  modules: true,
  // As text, because workerd rejects a path outside the folder in which it starts.
  script: await readFile(file!, 'utf8'),
  compatibilityDate: '2025-01-01',
  port: 0,
  d1Databases: { DB: 'plants' },
  bindings: { TOKEN: 'secret' },
});
// Else workerd would outlive this process.
process.on('SIGTERM', () => worker.dispose().then(() => process.exit()));
const database = await worker.getD1Database('DB');
const plants = new URL('/plants', await worker.ready);

async function create({ id, name, tag }: NewPlant): Promise<'created' | 'taken'> {
  const body = `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`;
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const response = await fetch(plants, { method: 'POST', headers, body });
  const answer = (await response.json()) as { error?: number };
  if (response.ok) return 'created';
  if (answer.error === 40003) return 'taken';
  throw new Error(JSON.stringify(answer));
}

async function open(statements: readonly string[] = []) {
  // What the last case has left: a table goes with its triggers and its index.
  const drops = ['log', 'texts', 'counter', 'plants'].map((table) => `DROP TABLE IF EXISTS ${table}`);
  const all = [...drops, schema, ...statements];
  await database.batch(all.map((sql) => database.prepare(sql)));
  const select = 'SELECT CAST(id AS TEXT) AS id, name, tag FROM plants WHERE id = CAST(? AS INTEGER)';
  return {
    storage: { create },
    caller: 'anyone',
    peek: async (id: bigint) => plantOf(await database.prepare(select).bind(String(id)).first()),
  };
}

// D1 has no TEMP triggers.
const openPeer = async (statements: readonly string[]) =>
  statements.join().includes('TEMP') ? undefined : open(statements);
await report(open, peerCases(openPeer, 'Error'));
