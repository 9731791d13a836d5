/**
 * `npm run bench [-- words]`: the rows that a user asks for, in Markdown. Words pick the rows that have them. `--quick`: a
 * minute, to see that it runs. `--before=<checkout>`: plant-store against itself in another checkout, for the effect of a change.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, resolve } from 'node:path';
import { PostgresServer } from '../../support/postgres.js';
import { buildChild, root } from './build.js';
import { compare, type Effort } from './compare.js';

interface Row {
  readonly what: string;
  readonly against: string;
  /** Both sides, by their names in `contenders.ts`. */
  readonly pair: readonly [baseline: string, ours: string];
  /** What decides: CPU time of the server's process for a request, or plants a second. */
  readonly by: 'cost' | 'rate';
  /** Clients of a server that send at a time. Default: 64. */
  readonly connections?: number;
}

const rows: readonly Row[] = [
  { what: 'toNode', against: 'node:http by hand', pair: ['by-hand', 'toNode'], by: 'cost' },
  {
    what: 'toNode, one at a time',
    against: 'node:http by hand',
    pair: ['by-hand', 'toNode'],
    by: 'cost',
    connections: 1,
  },
  {
    what: 'toNode, one at a time',
    against: 'Fastify 5 with schemas',
    pair: ['fastify', 'toNode'],
    by: 'cost',
    connections: 1,
  },
  { what: 'toFastify', against: 'Fastify 5 with schemas', pair: ['fastify', 'toFastify'], by: 'cost' },
  { what: 'toExpress', against: 'express.json and valibot', pair: ['express', 'toExpress'], by: 'cost' },
  { what: 'toFetch in Hono', against: 'bearerAuth and valibot', pair: ['hono', 'toHono'], by: 'cost' },
  {
    what: 'SQLite, 64 at a time',
    against: 'a transaction a plant',
    pair: ['sqlite-single', 'sqlite'],
    by: 'rate',
  },
  {
    what: 'PostgreSQL, 64 at a time',
    against: 'an INSERT a request',
    pair: ['postgres-single', 'postgres'],
    by: 'rate',
  },
];

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isQuick = process.argv.includes('--quick');
const before = process.argv.find((word) => word.startsWith('--before='))?.slice('--before='.length);
const effort: Effort = isQuick
  ? { processes: 1, samples: 3, sampleMs: 80, warmUpMs: 200 }
  : { processes: 3, samples: 5, sampleMs: 500, warmUpMs: 1500 };

const picked = rows.filter(({ what, against }) => words.every((word) => `${what} ${against}`.includes(word)));
const needsPostgres = picked.some(({ pair }) => pair[1] === 'postgres');
const server = needsPostgres ? await PostgresServer.start() : undefined;
if (server) process.env.BENCH_POSTGRES = server.url;
const now = await buildChild();
const then = before ? await buildChild(resolve(before)) : undefined;
try {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const date = new Date().toISOString().slice(0, 10);
  console.log(
    `${date}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model}\n`,
  );
  console.log('| what | against | baseline | plant-store | ratio |\n|---|---|---|---|---|');
  for (const row of picked) console.log(await lineOf(row));
} finally {
  for (const child of [now, then]) if (child) rmSync(dirname(child), { recursive: true });
  await server?.close();
}

async function lineOf({ what, against, pair, by, connections = 64 }: Row): Promise<string> {
  const [baseline, name] = pair;
  const other = then ? { child: then, name, connections } : { child: now, name: baseline, connections };
  const { sides, ratio } = await compare(other, { child: now, name, connections }, effort, by);
  const brief = (value: number) =>
    value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });
  const [theirs, ours] = sides.map((value) => `${brief(value)} ${by === 'cost' ? 'µs' : '/s'}`);
  const spread = `**${brief(ratio.median)}** (${brief(ratio.least)} to ${brief(ratio.most)})`;
  return `| ${[what, then ? 'itself before' : against, theirs, ours, spread].join(' | ')} |`;
}
