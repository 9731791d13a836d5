/** `npm run bench [-- --quick] [words]`: the table of README.md here, in Markdown; words pick the rows that have them. */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { PostgresServer } from '../support/postgres.js';
import { buildChild, root } from './build.js';
import { type Duel, duel, type Effort } from './duel.js';
import { heading, line } from './report.js';
import { type Row, rows } from './rows.js';

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const quick = process.argv.includes('--quick');
const effort: Effort = quick
  ? { bouts: 1, pairs: 5, sampleMs: 80, warmUpMs: 300 }
  : { bouts: 3, pairs: 5, sampleMs: 500, warmUpMs: 1500 };

const { child, core } = await buildChild();
const picked = rows(core, root)
  .filter(({ long, setUp }) => !(quick && (long || setUp)))
  .filter(({ what, against }) => words.every((word) => `${what} ${against}`.includes(word)));
const needsPostgres = picked.some(({ what }) => what.includes('PostgreSQL'));
const server = needsPostgres ? await PostgresServer.start() : undefined;
if (server) process.env.BENCH_POSTGRES = server.url;
try {
  console.log(heading);
  for (const row of picked) console.log(line(row, await worstOf(row)));
} finally {
  await server?.close();
  rmSync(dirname(child), { recursive: true });
}

async function worstOf({ duels, by = 'cost', setUp }: Row): Promise<{ target: string; duel: Duel }> {
  // Where there are many, each is short; and what takes minutes to set up is set up once.
  const many = {
    bouts: 1,
    pairs: effort.pairs,
    sampleMs: effort.sampleMs / 8,
    warmUpMs: effort.warmUpMs / 5,
  };
  const share = duels.length > 1 ? many : setUp ? { ...effort, bouts: 1, pairs: 15 } : effort;
  const fought = [];
  for (const [floor, target] of duels) fought.push({ target, duel: await duel(child, floor, target, share) });
  return fought.reduce((a, b) => (b.duel.times[by].median < a.duel.times[by].median ? b : a));
}
